import Foundation
import TestSupport
import Testing

/// `report.html` and `peal report`, by the program as a person runs it.
@Suite(.timeLimit(.minutes(2))) struct ReportTests {
    private let peal = PealProgram()

    /// A run with every kind of trouble that a report tells of.
    private func troubledRun() throws -> (recipients: String, folder: String) {
        let recipients = try Tools.makeRecipients(3000, format: "csv", in: peal.folder)
        let mock = try MockProgram(
            peal, "--seed", "7", "--fault", "status=410 reason=Unregistered p=0.05",
            "--fault", "status=503 reason=ServiceUnavailable every=700",
            "--fault", "goaway=now text=<script>alert(1)</script> every=900")
        let result = try peal.run(
            "send", PealProgram.sample("spring-sale"), "--recipients", recipients, "--server",
            mock.url, "--ca-file", mock.caFile, "--run-dir", "run", "--quiet")
        #expect(result.status == 0, "\(result.errors)")
        return (recipients, peal.folder.path + "/run")
    }

    @Test func sendLeavesAReportWithTheFiguresOfTheSummary() throws {
        let (recipients, folder) = try troubledRun()
        let report = try ReadReport(folder + "/report.html")
        #expect(report.faults.isEmpty && report.loads.isEmpty, "\(report)")
        #expect(report.figures == (try summaryFigures(folder)))
        #expect(report.lead.contains("of 3,000 recipients was accepted by APNs"))
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/report.html")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let text = try String(contentsOfFile: folder + "/report.html", encoding: .utf8)
        #expect(text.contains(": &lt;script&gt;alert(1)&lt;/script&gt;</bdi>"))
        let tokens = try RunAudit.tokens(ofFile: recipients)
        #expect(!tokens.contains { text.contains($0) })
    }

    /// Figures of `summary.json` by their path, but for outcomes of no row, which a report leaves
    /// out.
    private func summaryFigures(_ folder: String) throws -> [String: Double] {
        var figures: [String: Double] = [:]
        func add(_ value: Any, _ path: String) {
            if let object = value as? [String: Any] {
                for (key, value) in object { add(value, path.isEmpty ? key : "\(path).\(key)") }
            } else if let number = value as? NSNumber, path != "completed" {
                figures[path] = number.doubleValue
            }
        }
        let json = try Data(contentsOf: URL(fileURLWithPath: folder + "/summary.json"))
        add(try JSONSerialization.jsonObject(with: json), "")
        return figures.filter { $0.value != 0 || !$0.key.hasPrefix("outcomes.") }
    }

    @Test func reportSaysWhatSendSaidAndWritesBothFilesAnew() throws {
        let sent = try peal.run("send", PealProgram.sample("hello"), "--mock", "--run-dir", "run")
        let names = ["report.html", "unregistered.csv"]
        let before = names.map { peal.folder.read("run/\($0)") }
        for name in names { try #require(unlink(peal.folder.path + "/run/\(name)") == 0) }

        let result = try peal.run("report", "run")
        #expect(result.status == 0)
        #expect(result.errors.isEmpty)
        #expect(sent.errors.hasSuffix(result.output), "\(sent.errors)")
        #expect(names.map { peal.folder.read("run/\($0)") } == before)
        #expect(
            try peal.run("report", "run", "--json").outputBytes
                == peal.folder.read("run/summary.json"))
    }

    @Test func aKilledRunIsReportedAndGoesOn() throws {
        let recipients = try Tools.makeRecipients(20_000, format: "csv", in: peal.folder)
        let mock = try MockProgram(peal)
        let arguments = [
            "send", PealProgram.sample("spring-sale"), "--recipients", recipients, "--rate", "2000",
            "--server", mock.url, "--ca-file", mock.caFile, "--run-dir", "run",
        ]
        let sender = try peal.start(arguments)
        while try mock.stats().accepted == 0 {}
        #expect(try peal.run("report", "run").status == 2)  // it is in use
        sender.signal(SIGKILL)
        _ = sender.wait()

        let result = try peal.run("report", "run", "--json")
        #expect(result.status == 0, "\(result.errors)")
        let summary = try Summary(Data(result.outputBytes))
        #expect(!summary.completed)
        #expect(summary.stoppedBecause?.contains("killed") == true)
        let report = try ReadReport(peal.folder.path + "/run/report.html")
        #expect(
            report.figures["outcomes.accepted"] == summary.outcomes["accepted"].map(Double.init))
        let last = try peal.run(arguments.map { $0 == "2000" ? "0" : $0 } + ["--resume"])
        #expect(last.status == 0, "\(last.errors)")
        #expect(try peal.run("report", "run").output.contains("completed, 20,000 rows"))
    }

    @Test func whatIsNoRunIsRefused() throws {
        let result = try peal.run("report", PealProgram.sample("hello"))
        #expect(result.status == 2)
        #expect(result.errors.contains("not the folder of a run"))
    }

    /// A folder stands where the file is to go, as if the disk took no more.
    @Test func aReportThatCannotBeWrittenIsAWarningToSendAndAFailureToReport() throws {
        let inTheWay = peal.folder.path + "/run/report.html"
        try peal.run("send", PealProgram.sample("hello"), "--mock", "--run-dir", "run")
        try #require(unlink(inTheWay) == 0 && mkdir(inTheWay, 0o700) == 0)
        let result = try peal.run("report", "run")
        #expect(result.status == 3)
        #expect(result.output.contains("completed"))
        #expect(result.errors.contains("report.html: cannot replace the file"))
    }

    // MARK: In a browser

    /// `tools/test --deep` installs it; elsewhere it is used when it is there.
    private static let chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// The pictures stay in `.build/report-pictures`, for people to look at.
    @Test(
        .enabled(
            if: chromium != nil, "SKIPPED: chromium is not installed (tools/test --deep does it)"))
    func aBrowserShowsItWithoutComplaintAndWithoutTheNetwork() throws {
        let (_, folder) = try troubledRun()
        let pictures = PealProgram.root + "/.build/report-pictures"
        try FileManager.default.createDirectory(
            atPath: pictures, withIntermediateDirectories: true)
        var shots: [String: Data] = [:]
        for width in [1280, 390] {
            for scheme in ["light", "dark"] {
                let path = "\(pictures)/\(scheme)-\(width).png"
                try browse(
                    folder + "/report.html",
                    ["--window-size=\(width),2600", "--screenshot=\(path)"]
                        + (scheme == "dark" ? ["--blink-settings=preferredColorScheme=0"] : []))
                let shot = try Data(contentsOf: URL(fileURLWithPath: path))
                // PNG, section 11.2.2: the width stands behind the signature and IHDR's header.
                #expect(shot[16..<20].reduce(0) { $0 << 8 | Int($1) } == width)
                shots["\(scheme) \(width)"] = shot
            }
            #expect(shots["light \(width)"] != shots["dark \(width)"])
        }
        let shown = try browse(folder + "/report.html", ["--dump-dom"])
        let report = try ReadReport(
            peal.folder.write(shown.output, to: "shown.html"))
        #expect(report.figures == (try summaryFigures(folder)))
        #expect(report.loads.isEmpty)
    }

    /// The look is not blind: it sees the request and the complaint of another page.
    @Test(.enabled(if: chromium != nil, "SKIPPED: chromium is not installed"))
    func theBrowserTellsOfWhatAPageDoes() throws {
        let page = peal.folder.write(
            "<html><body><img src='http://127.0.0.1:9/x.png'/><script>console.log('hi')</script>",
            to: "other.html")
        let (_, console, requests) = try open(page, ["--dump-dom"])
        #expect(console.contains { $0.contains("hi") })
        #expect(requests > 0)
    }

    /// Opens the report; it asks for nothing, and nothing is wrong with it.
    @discardableResult
    private func browse(_ page: String, _ options: [String]) throws -> Subprocess.Result {
        let (result, console, requests) = try open(page, options)
        #expect(console.isEmpty, "\(console)")
        #expect(requests == 0)
        return result
    }

    /// Opens a page in a headless browser that finds no host.
    ///
    /// - Returns: also the lines of its console, and how many requests the page made. The browser
    ///   makes some on its own account: their initiator is "not an origin".
    private func open(
        _ page: String, _ options: [String]
    ) throws -> (Subprocess.Result, console: [Substring], requests: Int) {
        let log = peal.folder.path + "/net.json"
        let result = try Subprocess.run(
            [
                try #require(Self.chromium), "--headless", "--no-sandbox", "--disable-gpu",
                "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--disable-extensions",
                "--user-data-dir=\(peal.folder.path)/browser", "--log-net-log=\(log)",
                "--net-log-capture-mode=Everything", "--enable-logging=stderr",
                "--host-resolver-rules=MAP * ~NOTFOUND",
            ] + options + ["file://" + page], in: peal.folder.path, environment: [:])
        #expect(result.status == 0, "\(result.errors)")
        let requests = try String(contentsOfFile: log, encoding: .utf8)
            .matches(of: /"initiator":"([^"]+)"/).count { $0.1 != "not an origin" }
        let console = result.errors.split(separator: "\n").filter { $0.contains(":CONSOLE") }
        return (result, console, requests)
    }
}

/// A report as Python's HTML parser reads it.
private struct ReadReport {
    let figures: [String: Double]
    let faults: [String]
    let loads: [String]
    let lead: String

    init(_ path: String) throws {
        let script = PealProgram.root + "/Tests/IntegrationTests/clients/report_figures.py"
        let result = try Subprocess.run(["python3", script, path])
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(result.outputBytes)) as? [String: Any],
            "\(result.errors)")
        figures = try #require(object["figures"] as? [String: Double])
        faults = try #require(object["faults"] as? [String])
        loads = try #require(object["loads"] as? [String])
        lead = try #require(object["lead"] as? String)
    }
}
