import Crypto

/// Environment variables that hold a secret.
enum SecretVariable {
    /// The passphrase in the variable `name`, if one is named.
    static func passphrase(_ name: String?) throws(CommandFailure) -> Passphrase? {
        guard let name else { return nil }
        return Passphrase(try value(of: name, namedBy: "passphraseEnv"))
    }

    /// What the variable `name` holds. `key` is what names it, for the error.
    static func value(of name: String, namedBy key: String) throws(CommandFailure) -> String {
        if let value = StatePath.environment(name) { return value }
        throw .refused(
            "\(place(name, namedBy: key)) is not set: export it before you start Peal "
                + "(\(key) takes the variable's name, never the secret itself)")
    }

    /// A variable, for people. A name in other than capitals may be a secret that was written in
    /// its place, so it is not shown.
    static func place(_ name: String, namedBy key: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "_")
        }
        return isPlain
            ? "the environment variable \(name)" : "the environment variable that \(key) names"
    }
}
