package import Catalogs
package import JobModel
package import Manifests
import Reports
import ServiceAPI
package import Settings
import WorkerProtocol

/// Everything that manual pages, help topics and the site say of keys, filters, settings and codes, as one document.
///
/// It has no texts of its own: each comes from the code that reads the key, writes the metric or exits with the code.
package struct ReferenceDocument: Encodable, Sendable {
    /// Changes if a member is removed or gets another meaning. New members do not change it.
    package let version = 1
    package let penumbra = Version.penumbra
    package let keys: [ManifestKey]
    package let fields: [OutputField]
    package let filters: [DescribedFilter]
    package let formats: [DescribedFormat]
    package let settings: [SettingKey]
    package let exitCodes: [DescribedExitCode]
    package let metrics: [DescribedMetric]
    package let environment: [EnvironmentVariable]
    package let files: [DescribedFile]
    package let topics: [DescribedTopic]

    enum CodingKeys: String, CodingKey {
        case version, penumbra, keys, fields, filters, formats, settings, metrics, environment, files, topics
        case exitCodes = "exit_codes"
    }

    /// - Parameter catalog: What the workers of this machine offer. An empty one gives a document without filters and
    ///   formats.
    package init(_ catalog: Catalog) {
        keys = ManifestSchema(catalog).keys
        fields = ManifestSchema.fields
        filters = catalog.filters.map(DescribedFilter.init)
        formats = catalog.formats.map(DescribedFormat.init)
        settings = SettingKey.all
        exitCodes = RunOutcome.allCases.map(DescribedExitCode.init)
        metrics = PrometheusText.described + ServiceMetric.described
        environment = EnvironmentVariable.forUsers
        files = DescribedFile.all
        topics = HelpTopic.allCases.map { DescribedTopic(name: $0.rawValue, sentence: $0.sentence) }
    }
}

/// A filter in words.
package struct DescribedFilter: Encodable, Sendable {
    package let name: String
    package let kind: String
    package let sentence: String
    /// `built in`, or the file of its plugin.
    package let origin: String
    package let parameters: [DescribedParameter]
    /// Rules between parameters, a sentence each.
    package let rules: [String]

    init(_ filter: FilterDescriptor) {
        name = filter.name
        kind = filter.kind.rawValue
        sentence = ParameterWords.sentence(filter.summary)
        switch filter.origin {
        case .builtIn: origin = "built in"
        case .plugin(let path): origin = "plugin \(PathNames.last(of: path))"
        }
        parameters = filter.parameters.map(DescribedParameter.init)
        rules = filter.rules.map { ParameterWords.rule($0) + "." }
    }
}

/// A parameter of a filter, or a save option of a format, in words.
package struct DescribedParameter: Encodable, Sendable {
    package let name: String
    /// Its range, its words, or what a value looks like.
    package let takes: String
    /// Empty if the value has none.
    package let unit: String
    /// Nil if there is none.
    package let fallback: String?
    /// An example, if a manifest must give the parameter.
    package let example: String?
    package let isRequired: Bool
    package let sentence: String

    enum CodingKeys: String, CodingKey {
        case name, takes, unit, example, sentence
        case fallback = "default"
        case isRequired = "required"
    }

    init(_ parameter: ParameterDescriptor) {
        name = parameter.name
        takes = ParameterWords.takes(parameter.kind)
        unit = parameter.unit
        fallback = parameter.fallback.map(ParameterWords.text)
        example = parameter.requiredLike
        isRequired = parameter.requiredLike != nil
        sentence = ParameterWords.sentence(of: parameter)
    }
}

/// An image format in words.
package struct DescribedFormat: Encodable, Sendable {
    package let name: String
    package let extensions: [String]
    package let isRead: Bool
    package let isWritten: Bool
    package let streams: String
    package let samples: [String]
    package let holdsAlpha: Bool
    package let isLossless: Bool
    package let holdsAnimation: Bool
    /// Nil if the format is not written.
    package let largestSide: Int?
    package let sentence: String
    package let options: [DescribedParameter]

    enum CodingKeys: String, CodingKey {
        case name, extensions, streams, samples, sentence, options
        case isRead = "read"
        case isWritten = "write"
        case holdsAlpha = "alpha"
        case isLossless = "lossless"
        case holdsAnimation = "animation"
        case largestSide = "largest_side"
    }

    init(_ format: FormatDescriptor) {
        name = format.name
        extensions = format.extensions
        (isRead, isWritten) = (format.canRead, format.canWrite)
        streams = format.streams.rawValue
        samples = format.sampleFormats.map(\.rawValue)
        (holdsAlpha, isLossless, holdsAnimation) = (format.holdsAlpha, format.isLossless, format.holdsAnimation)
        largestSide = format.canWrite ? format.largestSide : nil
        sentence = Self.sentence(format)
        options = format.canWrite ? format.options.map(DescribedParameter.init) : []
    }

    private static func sentence(_ format: FormatDescriptor) -> String {
        switch (format.canRead, format.canWrite) {
        case (true, true): "Penumbra reads and writes \(format.name)."
        case (true, false): "Penumbra reads \(format.name), and does not write it."
        case (false, true):
            "Penumbra writes \(format.name)\(format.isFolder ? " as a folder" : ""), and does not read it."
        case (false, false): "This installation cannot use \(format.name), because a library is missing."
        }
    }
}

/// An exit code in words.
package struct DescribedExitCode: Encodable, Sendable {
    package let code: Int
    package let sentence: String
    /// What the user can do.
    package let remedy: String

    init(_ outcome: RunOutcome) {
        (code, sentence, remedy) = (outcome.number, outcome.sentence, outcome.remedy)
    }
}

/// A help topic.
package struct DescribedTopic: Encodable, Sendable {
    package let name: String
    package let sentence: String
}
