// swift-tools-version: 6.2
import PackageDescription

let swift: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// A module of Peal: it may import the modules that are named, and nothing else.
func module(_ name: String, imports: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: imports, swiftSettings: swift)
}

/// The tests of one module.
func tests(of name: String, imports: [Target.Dependency] = []) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: [.byName(name: name), "TestSupport"] + imports,
        swiftSettings: swift)
}

let package = Package(
    name: "peal",
    products: [.executable(name: "peal", targets: ["peal"])],
    targets: [
        // The C libraries, from Debian's packages.
        .systemLibrary(  // The event loop.
            name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(  // TLS, keys, certificates.
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(  // HTTP/2 framing and header compression.
            name: "CNghttp2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),

        .systemLibrary(name: "CPrefetch"),  // No library: one instruction of the processor.

        // The modules, lowest first.
        module("EventLoop", imports: ["CLibuv"]),
        module("JSON"),
        module("Measure"),
        module("Crypto", imports: ["COpenSSL"]),
        module("TLS", imports: ["COpenSSL", "Crypto"]),
        module("HTTP2", imports: ["CNghttp2"]),
        module("Transport", imports: ["EventLoop", "TLS", "HTTP2"]),
        module("APNS", imports: ["JSON", "Crypto"]),
        module("Campaign", imports: ["JSON", "APNS"]),
        module(
            "Sending",
            imports: [
                "Campaign", "APNS", "JSON", "Transport", "HTTP2", "TLS", "Crypto", "EventLoop",
                "CPrefetch",
            ]),
        module(
            "MockAPNS",
            imports: [
                "APNS", "JSON", "Measure", "Transport", "HTTP2", "TLS", "Crypto", "EventLoop",
            ]),
        module(
            "Load",
            imports: [
                "APNS", "JSON", "Measure", "Transport", "HTTP2", "TLS", "Crypto", "EventLoop",
            ]),
        module("Check", imports: ["Campaign", "APNS", "Crypto", "EventLoop"]),
        module("Report", imports: ["Check", "Sending", "Campaign", "APNS", "JSON"]),
        .executableTarget(
            name: "peal",
            dependencies: [
                "Report", "Check", "Load", "MockAPNS", "Sending", "Campaign", "APNS", "JSON",
                "Crypto", "TLS", "Transport", "HTTP2", "EventLoop", "Measure",
            ],
            swiftSettings: swift),

        // The benchmarks: `tools/benchmark` builds and runs them.
        .executableTarget(
            name: "peal-benchmark",
            dependencies: ["Sending", "Campaign", "APNS", "JSON", "HTTP2", "Crypto"],
            path: "Benchmarks/Suite", swiftSettings: swift),

        // Tests.
        .target(
            name: "TestSupport", dependencies: ["Crypto"], path: "Tests/TestSupport",
            swiftSettings: swift),
        tests(of: "EventLoop"),
        tests(of: "JSON"),
        tests(of: "Measure"),
        tests(of: "Crypto"),
        tests(of: "TLS", imports: ["Crypto"]),
        tests(of: "HTTP2"),
        tests(of: "Transport", imports: ["EventLoop", "TLS", "HTTP2", "Crypto"]),
        tests(of: "APNS", imports: ["Crypto", "JSON"]),
        tests(of: "Campaign", imports: ["APNS", "JSON"]),
        tests(
            of: "Sending",
            imports: [
                "Campaign", "APNS", "JSON", "Transport", "HTTP2", "TLS", "EventLoop", "Crypto",
            ]),
        tests(
            of: "MockAPNS",
            imports: [
                "APNS", "JSON", "Transport", "HTTP2", "TLS", "Crypto", "EventLoop", "CNghttp2",
            ]),
        tests(of: "Check", imports: ["Campaign", "APNS", "JSON"]),
        tests(
            of: "Load",
            imports: [
                "MockAPNS", "Measure", "APNS", "JSON", "Transport", "HTTP2", "TLS", "EventLoop",
                "Crypto",
            ]),
        tests(of: "Report", imports: ["Check", "Sending", "Campaign", "APNS", "JSON"]),
        .testTarget(
            name: "PealTests",
            dependencies: ["peal", "Load", "Measure", "Campaign", "Crypto", "TestSupport"],
            swiftSettings: swift),
        .testTarget(
            name: "BenchmarkTests", dependencies: ["peal-benchmark", "TestSupport"],
            swiftSettings: swift),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "TestSupport", "JSON", "APNS", "Campaign", "Sending", "MockAPNS", "Crypto",
                "EventLoop", "TLS", "Transport",
            ],
            exclude: ["clients"],  // In other languages: the tests run them.
            swiftSettings: swift),
    ],
)
