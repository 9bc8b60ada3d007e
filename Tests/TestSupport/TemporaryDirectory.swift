import Foundation
import Glibc

/// A fresh folder under the system's temporary folder, removed with all it holds when the value's
/// last reference goes.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() {
        var template = Array("/tmp/peal-test-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { fatalError("mkdtemp: errno \(errno)") }
        path = String(cString: made)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes `bytes` to `name` inside the folder and returns the whole path.
    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>, to name: String) -> String {
        let whole = path + "/" + name
        guard let file = fopen(whole, "w") else { fatalError("fopen \(whole): errno \(errno)") }
        let content = Array(bytes)
        precondition(fwrite(content, 1, content.count, file) == content.count)
        fclose(file)
        return whole
    }

    /// Writes `text` as UTF-8 to `name` inside the folder and returns the whole path.
    @discardableResult
    package func write(_ text: String, to name: String) -> String {
        write(text.utf8, to: name)
    }

    /// The content of `name` inside the folder; nil when there is no such file.
    package func read(_ name: String) -> [UInt8]? {
        guard let file = fopen(path + "/" + name, "r") else { return nil }
        defer { fclose(file) }
        var content: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&block, 1, block.count, file), count > 0 {
            content += block[..<count]
        }
        return content
    }
}
