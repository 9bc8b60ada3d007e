internal import Glibc

/// Why a benchmark cannot be run, or why its run is invalid.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Says something on standard error: standard output belongs to the tables.
func say(_ text: String) {
    let line = Array("benchmark: \(text)\n".utf8)
    _ = write(2, line, line.count)
}
