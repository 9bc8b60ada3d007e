internal import APNS
internal import JSON

extension ManifestReader {
    private static let keyExample =
        "{ key: \"AuthKey_ABC123DEFG.p8\", keyID: \"…\", teamID: \"…\" }"

    func credentials() throws(CampaignError) -> CampaignCredentials {
        let example = Self.keyExample
        guard let node = root.node["credentials"] else {
            throw root.missing("credentials", example: "\(example), or \"development\"")
        }
        if let word = node.asString {
            guard word == "development" else {
                throw root.error(
                    "credentials", "\"credentials\" is \"\(word)\"",
                    "write \(example), or \"development\" for a server on this machine")
            }
            return .development
        }
        let section = try ManifestObject(
            node, path: "credentials", file: source.path,
            known: ["key", "keyEnv", "keyID", "teamID", "identity", "passphraseEnv"])
        let passphrase = try variable("passphraseEnv", of: section)
        if section.has("identity") {
            for other in ["key", "keyEnv", "keyID", "teamID"] where section.has(other) {
                throw section.error(
                    other, "\(section.name(other)) does not go with a certificate",
                    "remove it, or remove \"identity\"")
            }
            let identity = try section.required("identity", example: "\"push.p12\"")
            return .identity(path: source.resolve(identity), passphraseEnv: passphrase)
        }
        return .key(
            try keySource(section), keyID: try identifier("keyID", of: section),
            teamID: try identifier("teamID", of: section), passphraseEnv: passphrase)
    }

    private func keySource(_ section: ManifestObject) throws(CampaignError) -> KeySource {
        guard let name = try variable("keyEnv", of: section) else {
            let key = try section.required("key", example: "\"AuthKey_ABC123DEFG.p8\"")
            return .file(source.resolve(key))
        }
        guard !section.has("key") else {
            throw section.error(
                "keyEnv", "\"credentials\" has both \"key\" and \"keyEnv\"", "keep one of them")
        }
        return .environment(name)
    }

    /// The name of an environment variable. What is no such name may be the secret itself, so it is
    /// not shown.
    private func variable(
        _ key: String, of section: ManifestObject
    ) throws(CampaignError) -> String? {
        guard let value = section.node[key] else { return nil }
        guard let name = value.asString, Self.isVariableName(name) else {
            throw section.error(
                key, "\(section.name(key)) is no name of an environment variable",
                "write the variable's name, such as \"APNS_SECRET\", and put the secret itself "
                    + "into the variable")
        }
        return name
    }

    private static func isVariableName(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first)
        else { return false }
        return name.utf8.count <= 128
            && name.utf8.allSatisfy { byte in isAlphanumeric(byte) || byte == UInt8(ascii: "_") }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
            || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
    }

    private func identifier(
        _ key: String, of section: ManifestObject
    ) throws(CampaignError) -> String {
        let text = try section.required(key, example: "\"ABC123DEFG\"")
        guard text.utf8.allSatisfy(Self.isAlphanumeric),
            text.utf8.count == APNSLimits.idCharacters
        else {
            throw section.error(
                key, "\(section.name(key)) is \"\(text)\"",
                "write the \(APNSLimits.idCharacters) letters and digits that Apple's pages show")
        }
        return text
    }
}
