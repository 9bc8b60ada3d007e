internal import JSON

extension ManifestReader {
    /// The lists of tokens that are not sent to. Whether the files can be read shows later.
    func suppress() throws(CampaignError) -> [String] {
        guard let node = root.node["suppress"] else { return [] }
        let form = "a list of files, such as [\"unregistered.csv\"]"
        guard let elements = node.elements else { throw root.wrongKind("suppress", node, form) }
        var paths: [String] = []
        for element in elements {
            guard let name = element.asString, !name.isEmpty else {
                throw root.wrongKind("suppress", element, form)
            }
            guard name != "-" else {
                throw root.error(
                    at: element.position, "\"suppress\" cannot read standard input",
                    "write the list to a file, and name it")
            }
            paths.append(source.resolve(name))
        }
        return paths
    }
}
