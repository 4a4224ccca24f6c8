import Catalogs
import JobModel

/// Reads `save:`: the options of all formats, and those of the output's format.
struct SaveReader {
    let catalog: Catalog
    /// Nil for a path with an error.
    let output: OutputReader.Output?
    /// What an output has that names no precision.
    let usualPrecision: ChainPrecision
    let pictures: PictureLookup

    private var format: OutputReader.Format { output?.format ?? .unknown }

    static let generalKeys = [
        "metadata", "background", "dither", "precision", "depth", "color", "intent", "black_point", "set",
    ]

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
            let color = color(from: &reader, metadata, log: log)
            let texts = reader.optional("set", .texts)
            if texts != nil, case .known(let format) = format, !format.holdsTexts,
                let span = reader.mapping["set"]?.span
            {
                let holders = catalog.formats.filter { $0.canWrite && $0.holdsTexts }.map(\.name)
                log.error(.job(.noPlaceForTexts(format: format.name, holders: holders)), at: span)
            }
            let values = formatValues(from: &reader, log: log)
            checkLimits(of: values, depth: depth, dither: dither, in: reader.mapping, log: log)
            reader.finish(aliases: Self.aliases, explaining: optionOfOtherFormat)
            return SaveOptions(
                metadata: metadata, background: background, dither: dither, precision: precision, depth: depth,
                color: color, texts: texts, values: values)
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

    /// Refuses options that allow other samples than `depth` or `dither` asks for.
    private func checkLimits(
        of values: [String: ParameterValue], depth: OutputDepth, dither: Bool, in mapping: SyntaxNode.Mapping,
        log: DiagnosticLog
    ) {
        guard case .known(let format) = format else { return }
        for limit in format.sampleLimits(with: values) {
            let option = "\(limit.option): \(mapping[limit.option]?.text ?? "")"
            if let samples = depth.samples, format.sampleFormats.contains(samples), !limit.samples.contains(samples),
                let span = mapping["depth"]?.span
            {
                log.error(.job(.depthOfOption(depth.rawValue, option: option)), at: span)
            }
            if dither, !limit.samples.contains(.u8), let span = mapping[limit.option]?.span {
                log.error(.job(.ditheredOption(option)), at: span)
            }
        }
    }

    /// The colours of the output. Nil for those of the filters, and if a value is wrong.
    private func color(
        from reader: inout MappingReader, _ metadata: MetadataPolicy, log: DiagnosticLog
    ) -> OutputColor? {
        let space = reader.optional("color", space)
        let intent = reader.value("intent", .choice, default: RenderingIntent.relative)
        let isAbsolute = intent == .absolute
        let blackPoint = reader.value("black_point", .boolean, default: !isAbsolute)
        if reader.mapping["color"]?.text ?? "keep" == "keep" {
            for key in ["intent", "black_point"] {
                if let span = reader.mapping[key]?.span { log.error(.job(.withoutOutputColor(key)), at: span) }
            }
        }
        if isAbsolute, blackPoint, let span = reader.mapping["black_point"]?.span {
            log.error(.job(.blackPointOfAbsolute), at: span)
        }
        guard let node = reader.mapping["color"], let space = space.flatMap(\.self) else { return nil }
        let color = OutputColor(space, intent: intent, blackPoint: blackPoint)
        let needsProfile = if case .named(let name) = space { name.needsProfile } else { true }
        if needsProfile {
            let written = node.text ?? ""
            if case .known(let format) = format, !format.holdsProfile {
                let holders = catalog.formats.filter { $0.canWrite && $0.holdsProfile }.map(\.name)
                let problem = JobProblem.noPlaceForProfile(color: written, format: format.name, holders: holders)
                log.error(.job(problem), at: node.span)
            }
            if let kinds = metadata.kinds, !kinds.contains(.icc) {
                log.error(.job(.profileNotKept(color: written)), at: node.span)
            }
        }
        return color
    }

    /// A space with a name, or a profile. Nil for `keep`.
    private var space: ValueReader<OutputColor.Space?> {
        ValueReader { node, name, log in
            guard let text = ValueReader<String>.nonEmptyText.read(node, for: name, log: log) else { return nil }
            if text == "keep" { return .some(nil) }
            if let name = NamedColorSpace(rawValue: text) { return .named(name) }
            guard [".icc", ".icm"].contains(where: text.lowercased().hasSuffix) else {
                let words = OutputColor.describedWords.map(\.word)
                let nearest = Suggestion.nearest(to: text, among: words)
                log.error(.job(.unknownOutputColor(text, nearest: nearest)), at: node.span)
                return nil
            }
            let known: String? = if case .known(let format) = format { format.name } else { nil }
            return pictures.reference(.profile(format: known)).read(node, for: name, log: log).map {
                OutputColor.Space.profile($0)
            }
        }
    }

    private func formatValues(from reader: inout MappingReader, log: DiagnosticLog) -> [String: ParameterValue] {
        switch format {
        case .known(let format):
            let typed = ParameterTyper(log: log).values(of: format.options, in: &reader)
            checkAddresses(typed, of: format, log: log)
            checkConditions(typed, of: format, in: reader.mapping, log: log)
            if let missing = Self.missingOption(of: format, in: reader.mapping) {
                log.error(.value(.missingKey(missing.name, of: "'save'", example: missing.example)), at: reader.span)
            }
            return typed.mapValues(\.value)
        case .inputs, .unknown:
            return valuesOfAnyFormat(from: &reader, log: log)
        }
    }

    /// Refuses options without the value of another one, without which they have no effect.
    private func checkConditions(
        _ typed: [String: ParameterTyper.Typed], of format: FormatDescriptor, in mapping: SyntaxNode.Mapping,
        log: DiagnosticLog
    ) {
        for condition in format.conditions {
            let fallback = format.options.first { $0.name == condition.other }?.fallback
            // A wrong value is reported already.
            if mapping[condition.other] != nil, typed[condition.other] == nil { continue }
            guard typed[condition.other]?.value ?? fallback != condition.value else { continue }
            let other = "\(condition.other): \(ParameterWords.text(condition.value))"
            for option in condition.options {
                guard let given = typed[option] else { continue }
                log.error(.job(.optionWithoutOther(option, other: other)), at: given.keySpan)
            }
        }
    }

    private func checkAddresses(
        _ typed: [String: ParameterTyper.Typed], of format: FormatDescriptor, log: DiagnosticLog
    ) {
        for option in format.options where option.kind == .address {
            guard let value = typed[option.name], case .text(let address) = value.value, let output,
                let field = AddressReader.missingField(address, of: output.template)
            else { continue }
            log.error(.job(.addressWithoutField(field, name: option.name)), at: value.span)
        }
    }

    /// An option that a manifest must give, and that a mapping lacks.
    ///
    /// - Parameter mapping: nil if there is none.
    static func missingOption(
        of format: FormatDescriptor, in mapping: SyntaxNode.Mapping?
    ) -> (name: String, example: String)? {
        guard mapping?.isComplete ?? true else { return nil }
        for option in format.options {
            if let example = option.requiredLike, mapping?[option.name] == nil { return (option.name, example) }
        }
        return nil
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

    private static let aliases = [
        "q": "quality", "compress": "compression", "meta": "metadata", "exif": "metadata", "colour": "color",
        "profile": "color", "icc": "color", "colorspace": "color", "color_space": "color",
        "rendering_intent": "intent", "bpc": "black_point", "black_point_compensation": "black_point",
    ]
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
