import Catalogs

/// Types the values of a mapping by the descriptors of a filter's parameters or a format's options.
struct ParameterTyper {
    /// A value that the manifest gave.
    struct Typed {
        let value: ParameterValue
        /// Where the key stands: the parameter's name, or a synonym.
        let keySpan: SourceSpan
        let span: SourceSpan
        /// As it was written, where it is a scalar.
        let text: String?
    }

    var pictures = PictureLookup()
    let log: DiagnosticLog

    /// The values by parameter name. What is wrong is reported, and absent.
    func values(of descriptors: [ParameterDescriptor], in reader: inout MappingReader) -> [String: Typed] {
        var values: [String: Typed] = [:]
        for descriptor in descriptors {
            values[descriptor.name] = value(of: descriptor, in: &reader)
        }
        return values
    }

    private func value(of descriptor: ParameterDescriptor, in reader: inout MappingReader) -> Typed? {
        let names = [ParameterDescriptor.Synonym(descriptor.name)] + descriptor.synonyms
        let given = names.compactMap { name in reader.entry(name.name).map { (entry: $0, scale: name.scale) } }
            .sorted { $0.entry.keySpan.start < $1.entry.keySpan.start }
        if given.count > 1 {
            let problem = FilterProblem.givenTwice(parameter: descriptor.name, names: given.map(\.entry.key))
            log.error(.filter(problem), at: given[1].entry.keySpan)
            return nil
        }
        return given.first.flatMap { entry, scale in
            ValueReader.parameter(descriptor.kind, unit: descriptor.unit, scale: scale, pictures: pictures)
                .read(entry.value, for: entry.key, log: log)
                .map { Typed(value: $0, keySpan: entry.keySpan, span: entry.value.span, text: entry.value.text) }
        }
    }
}
