import Catalogs
import JobModel

/// Filters, formats and their parameters as text.
enum CatalogText {
    static func list(_ filters: [FilterDescriptor]) -> [String] {
        var table = Table(["filter", "kind", "from", "what it does"])
        for filter in filters {
            table.add(filter.name, filter.kind.rawValue, shortOrigin(filter.origin), filter.summary)
        }
        return table.lines
    }

    static func describe(_ filter: FilterDescriptor) -> [String] {
        var lines = [
            "\(filter.name): \(filter.summary)", "\(filter.kind.rawValue) filter, \(origin(filter.origin))", "",
        ]
        if filter.parameters.isEmpty { return lines + ["It has no parameters: - \(filter.name)"] }
        lines += parameters(filter.parameters).map { "  " + $0 }
        let rules = filter.rules.map(ParameterWords.rule)
        return rules.isEmpty ? lines : lines + [""] + rules
    }

    static func list(_ formats: [FormatDescriptor]) -> [String] {
        var table = Table(["format", "extensions", "read", "write", "streams", "samples", "alpha", "lossless"])
        for format in formats {
            table.add(
                format.name, format.extensions.map { ".\($0)" }.joined(separator: " "), yes(format.canRead),
                yes(format.canWrite), format.streams.rawValue,
                format.sampleFormats.map(\.rawValue).joined(separator: " "),
                yes(format.holdsAlpha), yes(format.isLossless))
        }
        let options = formats.filter { $0.canWrite && !$0.options.isEmpty }.flatMap { format in
            ["", "save: options of \(format.name)"] + parameters(format.options).map { "  " + $0 }
        }
        return table.lines + options
    }

    static func parameters(_ parameters: [ParameterDescriptor]) -> [String] {
        var table = Table(["parameter", "takes", "default", "meaning"])
        for parameter in parameters {
            let fallback =
                parameter.requiredLike != nil
                ? "required" : parameter.fallback.map { ParameterWords.text($0) + unit(parameter, $0) } ?? "–"
            table.add(
                parameter.name, ParameterWords.takes(parameter.kind), fallback, ParameterWords.sentence(of: parameter))
        }
        return table.lines
    }

    private static func yes(_ flag: Bool) -> String { flag ? "yes" : "no" }

    private static func shortOrigin(_ origin: FilterDescriptor.Origin) -> String {
        switch origin {
        case .builtIn: "built in"
        case .plugin(let path): "plugin \(PathNames.last(of: path))"
        }
    }

    private static func origin(_ origin: FilterDescriptor.Origin) -> String {
        switch origin {
        case .builtIn: "built in"
        case .plugin(let path): "plugin \(path)"
        }
    }

    private static func unit(_ parameter: ParameterDescriptor, _ value: ParameterValue) -> String {
        if case .word = value { return "" }
        return parameter.unit.isEmpty ? "" : " \(parameter.unit)"
    }
}
