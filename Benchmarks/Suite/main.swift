internal import Glibc

do {
    let options = try Options(CommandLine.arguments.dropFirst())
    try Suite(options: options).perform()
} catch {
    say("\(error)")
    exit(1)
}
