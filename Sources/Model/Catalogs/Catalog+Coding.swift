/// The form in which workers send catalogs. Many filters have the same parameters, such as `within`. Each parameter of filters is sent
/// once, and filters refer to it by its number. So a worker starts a few milliseconds sooner.
extension Catalog: Codable {
    private struct Sent: Codable {
        let versions: [String: String]
        /// Each parameter once.
        let parameters: [ParameterDescriptor]
        let filters: [SentFilter]
        let formats: [FormatDescriptor]
        let missingFormats: [MissingFormat]
        let pluginProblems: [String]
        let unpinnedPlugins: [UnpinnedPlugin]
        let sandbox: SandboxReport
    }

    private struct SentFilter: Codable {
        /// Without its parameters.
        let filter: FilterDescriptor
        /// The positions of its parameters among those of the catalog.
        let parameters: [Int]
    }

    public func encode(to encoder: any Encoder) throws {
        var positions: [ParameterDescriptor: Int] = [:]
        var parameters: [ParameterDescriptor] = []
        let sent = filters.map { filter in
            let own = filter.parameters.map { parameter in
                if let known = positions[parameter] { return known }
                positions[parameter] = parameters.count
                parameters.append(parameter)
                return parameters.count - 1
            }
            return SentFilter(filter: filter.with(parameters: []), parameters: own)
        }
        try Sent(
            versions: versions, parameters: parameters, filters: sent, formats: formats, missingFormats: missingFormats,
            pluginProblems: pluginProblems, unpinnedPlugins: unpinnedPlugins, sandbox: sandbox
        ).encode(to: encoder)
    }

    /// - Throws: an error also for parameters that are not there, and for more references than an installation has. A short
    ///   message could ask for endless copies otherwise.
    public init(from decoder: any Decoder) throws {
        let sent = try Sent(from: decoder)
        func damage(_ words: String) -> DecodingError {
            DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: words))
        }
        let references = sent.filters.reduce(0) { $0 + $1.parameters.count }
        guard references <= CatalogLimits.references else { throw damage("\(references) references to parameters") }
        let filters = try sent.filters.map { sentFilter in
            sentFilter.filter.with(
                parameters: try sentFilter.parameters.map { position in
                    guard sent.parameters.indices.contains(position) else { throw damage("no parameter \(position)") }
                    return sent.parameters[position]
                })
        }
        self.init(
            versions: sent.versions, filters: filters, formats: sent.formats, missingFormats: sent.missingFormats,
            pluginProblems: sent.pluginProblems, unpinnedPlugins: sent.unpinnedPlugins, sandbox: sent.sandbox)
    }
}
