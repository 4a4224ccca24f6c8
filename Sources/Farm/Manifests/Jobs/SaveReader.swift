import Catalogs
import JobModel

/// Reads `save:`: the options of all formats, and those of the output's format.
struct SaveReader {
    let catalog: Catalog
    let format: OutputReader.Format
    /// What an output has that names no precision.
    let usualPrecision: ChainPrecision

    static let generalKeys = ["metadata", "background", "dither", "precision", "depth", "set"]

    var options: ValueReader<SaveOptions> {
        ValueReader { node, name, log in
            guard var reader = MappingReader(node, of: "'\(name)'", noun: "option", log: log) else { return nil }
            let metadata = reader.value("metadata", .metadata, default: .keep)
            let background = reader.value("background", .background, default: [255, 255, 255])
            let dither = reader.value("dither", .boolean, default: false)
            let precision = reader.value("precision", .choice, default: usualPrecision)
            if dither, precision == .u8, let span = reader.mapping["precision"]?.span {
                log.error(.job(.ditheredBytes), at: span)
            }
            let depth = depth(from: &reader, dither: dither, log: log)
            let texts = reader.optional("set", .texts)
            if texts != nil, case .known(let format) = format, !format.holdsTexts,
                let span = reader.mapping["set"]?.span
            {
                let holders = catalog.formats.filter { $0.canWrite && $0.holdsTexts }.map(\.name)
                log.error(.job(.noPlaceForTexts(format: format.name, holders: holders)), at: span)
            }
            let values = formatValues(from: &reader, log: log)
            reader.finish(aliases: Self.aliases, explaining: optionOfOtherFormat)
            return SaveOptions(
                metadata: metadata, background: background, dither: dither, precision: precision, depth: depth,
                texts: texts, values: values)
        }
    }

    private func depth(from reader: inout MappingReader, dither: Bool, log: DiagnosticLog) -> OutputDepth {
        let depth = reader.value("depth", .choice, default: OutputDepth.input)
        guard let samples = depth.samples, let span = reader.mapping["depth"]?.span else { return depth }
        if dither, samples != .u8 { log.error(.job(.ditheredDepth(depth.rawValue)), at: span) }
        if !(dither && samples != .u8), case .known(let format) = format, !format.sampleFormats.contains(samples) {
            log.error(
                .job(
                    .depthOfOtherFormat(
                        depth.rawValue, format: format.name, known: format.depths.map(\.rawValue))), at: span)
        }
        return depth
    }

    private func formatValues(from reader: inout MappingReader, log: DiagnosticLog) -> [String: ParameterValue] {
        switch format {
        case .known(let format):
            return ParameterTyper(log: log).values(of: format.options, in: &reader).mapValues(\.value)
        case .inputs, .unknown:
            return valuesOfAnyFormat(from: &reader, log: log)
        }
    }

    /// Formats give one name different kinds (`compression` is a level or a method), so a value is valid if one of them
    /// accepts it. If none does, the first one's problem is reported.
    private func valuesOfAnyFormat(
        from reader: inout MappingReader, log: DiagnosticLog
    ) -> [String: ParameterValue] {
        var values: [String: ParameterValue] = [:]
        var logs: [String: DiagnosticLog] = [:]
        for option in catalog.formats.filter(\.canWrite).flatMap(\.options) where values[option.name] == nil {
            let attempt = DiagnosticLog()
            values[option.name] = ParameterTyper(log: attempt).values(of: [option], in: &reader)[option.name]?.value
            if logs[option.name] == nil { logs[option.name] = attempt }
        }
        for (name, attempt) in logs where values[name] == nil { log.add(attempt) }
        return values
    }

    private func optionOfOtherFormat(_ entry: SyntaxNode.Entry) -> Problem? {
        guard case .known(let format) = format else { return nil }
        let owners = catalog.formats.filter { $0.options.contains { $0.name == entry.key } }.map(\.name)
        guard !owners.isEmpty else { return nil }
        return .job(
            .optionOfOtherFormat(entry.key, owners: owners, format: format.name, known: format.options.map(\.name)))
    }

    private static let aliases = ["q": "quality", "compress": "compression", "meta": "metadata", "exif": "metadata"]
}

extension ValueReader where Value == MetadataPolicy {
    /// One word for all metadata, or a list of the kinds that are kept.
    fileprivate static var metadata: ValueReader {
        ValueReader { node, name, log in
            guard case .sequence = node.content else {
                let kinds = MetadataKind.allCases.map(\.rawValue)
                guard let text = node.text, kinds.contains(text), text != MetadataPolicy.icc.rawValue else {
                    let word = ValueReader<String>.word(of: MetadataPolicy.words).read(node, for: name, log: log)
                    return word.flatMap(MetadataPolicy.init)
                }
                log.error(.job(.metadataNotListed(text)), at: node.span)
                return nil
            }
            let kinds = ValueReader<[MetadataKind]>.nonEmptyList(of: .choice).read(node, for: name, log: log)
            return kinds.map { $0 == [.icc] ? .icc : .only(Set($0)) }
        }
    }
}

extension ValueReader where Value == [Int] {
    /// An opaque color, as red, green and blue.
    fileprivate static var background: ValueReader {
        ValueReader { node, name, log in
            guard let color = ValueReader<Color>.color.read(node, for: name, log: log) else { return nil }
            guard color.alpha == 255 else {
                log.error(.job(.backgroundNotOpaque), at: node.span)
                return nil
            }
            return [color.red, color.green, color.blue]
        }
    }
}

extension ValueReader where Value == MetadataTexts {
    /// Texts by their fields. Some fields take a list.
    fileprivate static var texts: ValueReader {
        ValueReader { node, name, log in
            guard
                var reader = MappingReader(
                    node, of: "'\(name)'", noun: "text", example: "copyright: © Ann Example", log: log)
            else { return nil }
            var texts: [MetadataTexts.Field: [String]] = [:]
            for field in MetadataTexts.Field.allCases {
                let isList = reader.mapping[field.rawValue].map {
                    if case .sequence = $0.content { true } else { false }
                }
                if field.isList, isList == true {
                    texts[field] = reader.optional(field.rawValue, ValueReader<[String]>.nonEmptyList(of: .shortText))
                    let bytes = (texts[field] ?? []).reduce(0) { $0 + $1.utf8.count }
                    if bytes > 2000, let span = reader.mapping[field.rawValue]?.span {
                        log.error(.job(.tooLongTexts(field: field.rawValue, bytes: bytes)), at: span)
                    }
                } else {
                    texts[field] = reader.optional(field.rawValue, ValueReader<String>.shortText).map { [$0] }
                }
            }
            reader.finish(aliases: aliases)
            return texts.isEmpty ? nil : MetadataTexts(texts)
        }
    }

    private static var aliases: [String: String] {
        [
            "author": "creator", "artist": "creator", "by": "creator", "rights": "copyright", "caption": "description",
            "tags": "keywords", "keyword": "keywords",
        ]
    }
}

extension ValueReader where Value == String {
    /// A text for metadata: not empty, and short enough for all blocks of metadata.
    fileprivate static var shortText: ValueReader {
        .scalar("a text") { text, name in
            if text.allSatisfy(\.isWhitespace) { return .failure(ValueError(.emptyText(name: name))) }
            guard
                text.unicodeScalars.allSatisfy({
                    $0.value >= 0x20 && $0.value != 0x7f || "\t\n".unicodeScalars.contains($0)
                })
            else {
                return .failure(
                    ValueError(.unfitArgument(name: name, text: text, reason: "remove its control characters")))
            }
            guard text.utf8.count <= 2000 else {
                return .failure(
                    ValueError(
                        .unfitArgument(
                            name: name, text: String(text.prefix(30)) + "…",
                            reason: "it has \(text.utf8.count) bytes, and 2000 fit; shorten it")))
            }
            return .success(text)
        }
    }
}
