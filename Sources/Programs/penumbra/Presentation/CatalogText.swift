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
            VisibleText.line("\(filter.name): \(filter.summary)"),
            "\(filter.kind.rawValue) filter, \(origin(filter.origin))", "",
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

    static func describe(_ format: FormatDescriptor) -> [String] {
        let uses = (format.canRead ? ["read"] : []) + (format.canWrite ? ["written"] : [])
        let streams =
            switch format.streams {
            case .yes: "yes: its rows are decoded in order, so that memory does not grow with the picture"
            case .unlessInterlaced: "unless the file is interlaced; then the whole picture is decoded first"
            case .no: "no: the whole picture is decoded first"
            }
        var table = Table()
        table.add("extensions", format.extensions.map { ".\($0)" }.joined(separator: " "))
        table.add("streams", streams)
        if format.canWrite {
            table.add("samples", format.sampleFormats.map(\.rawValue).joined(separator: " "))
            table.add("alpha", yes(format.holdsAlpha))
            table.add("lossless", yes(format.isLossless))
            table.add("animations", animations(format))
            table.add("largest side", "\(format.largestSide) px")
        }
        var lines = ["\(format.name): \(uses.joined(separator: " and "))", ""] + table.lines.map { "  " + $0 }
        guard format.canWrite else { return lines }
        if format.isFolder { lines += ["", "An output is a folder of tiles, with a file that describes them."] }
        guard !format.options.isEmpty else { return lines + ["", "It has no save options."] }
        return lines + ["", "save: options of \(format.name)"] + parameters(format.options).map { "  " + $0 }
    }

    private static func animations(_ format: FormatDescriptor) -> String {
        if format.isVideo, !format.canWrite { return "yes; ffmpeg reads them" }
        if format.isVideo { return "yes, at a constant rate; ffmpeg reads and writes them" }
        return format.frameTime.map { "yes, with times in steps of \($0) ms" } ?? "no"
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
        case .plugin(let path): "plugin \(VisibleText.line(path))"
        }
    }

    private static func unit(_ parameter: ParameterDescriptor, _ value: ParameterValue) -> String {
        if case .word = value { return "" }
        return parameter.unit.isEmpty ? "" : " \(parameter.unit)"
    }
}
