import Glibc

Signals.prepare()
exit(Peal.main(Array(CommandLine.arguments.dropFirst())).rawValue)
