internal import Glibc

/// Why a benchmark cannot be run, or why its run is invalid.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Says something on standard error: standard output belongs to the tables.
func say(_ text: String) {
    writeLine("benchmark: \(text)", to: 2)
}

/// Puts a table on standard output, at once, so that it stands in its place among what `say` says.
func show(_ text: String) { writeLine(text, to: 1) }

private func writeLine(_ text: String, to descriptor: Int32) {
    let line = Array("\(text)\n".utf8)
    _ = write(descriptor, line, line.count)
}
