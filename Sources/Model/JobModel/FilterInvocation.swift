public import Catalogs

/// One filter of a chain with its values. Fallbacks stand for values that the manifest does not give.
public struct FilterInvocation: Hashable, Sendable, Codable {
    public let filter: String
    /// By parameter name, never a synonym. A parameter without value and fallback is missing.
    public let values: [String: ParameterValue]
    /// What is measured of each picture for the filter, as its descriptor says. Nil for nothing.
    public let measures: FilterDescriptor.Measured?

    public init(filter: String, values: [String: ParameterValue], measures: FilterDescriptor.Measured? = nil) {
        self.filter = filter
        self.values = values
        self.measures = measures
    }

    /// The same filter with other values.
    package func with(_ values: [String: ParameterValue]) -> FilterInvocation {
        FilterInvocation(filter: filter, values: values, measures: measures)
    }
}

extension [FilterInvocation] {
    /// The chain with only one frame, from 0, of the animation at its end.
    public func showing(frame: Int) -> [FilterInvocation] {
        guard let last else { return self }
        return dropLast() + [last.with(last.values.merging([FilterInvocation.frame: .integer(frame + 1)]) { $1 })]
    }

    /// The filters at the beginning of the chain for which the picture is measured.
    package var measuredFilters: [FilterInvocation] {
        var last: FilterDescriptor.Measured?
        return Array(
            prefix { invocation in
                guard let measured = invocation.measures, last.map(measured.mayFollow) ?? true else { return false }
                last = measured
                return true
            })
    }
}

extension FilterInvocation {
    /// The parameter of every filter that makes frames: the shown frame, from 1, or all.
    public static let frame = "frame"
}

extension FilterInvocation {
    /// The pictures that its parameters name, by parameter.
    public var pictures: [String: PictureReference] {
        values.compactMapValues { value in
            if case .picture(let picture) = value { picture } else { nil }
        }
    }

    /// The pictures that each input has of its own, by parameter.
    public var pictureTemplates: [String: PictureTemplate] {
        values.compactMapValues { value in
            if case .pictureTemplate(let template) = value { template } else { nil }
        }
    }

    /// The same with the pictures of one input in place of their names.
    ///
    /// - Parameter picture: gets the parameter, too.
    public func resolvingPictures<Failure: Error>(
        _ picture: (_ parameter: String, PictureTemplate) throws(Failure) -> PictureReference
    ) throws(Failure) -> FilterInvocation {
        let templates = pictureTemplates
        guard !templates.isEmpty else { return self }
        var values = values
        for (parameter, template) in templates.sorted(by: { $0.key < $1.key }) {
            values[parameter] = .picture(try picture(parameter, template))
        }
        return with(values)
    }

    /// The programs that it runs.
    public var commands: [ProgramCommand] {
        values.sorted { $0.key < $1.key }.compactMap {
            if case .command(let command) = $0.value { command } else { nil }
        }
    }

    /// The file that has the regions of the pictures. Nil if there is none.
    public var regionFile: RegionFile? {
        values.values.lazy.compactMap { if case .regionFile(let file) = $0 { file } else { nil } }.first
    }

    /// The same for the whole picture, if a file has the regions, and with one picture in place of those that inputs have of their own. A
    /// worker can make only such a filter.
    public var withoutFilesOfInputs: FilterInvocation {
        let whole = Region(x: .pixels(0), y: .pixels(0), width: .percent(100), height: .percent(100))
        return with(values.mapValues { if case .regionFile = $0 { .region(whole) } else { $0 } })
            .resolvingPictures { _, template in PictureReference(path: template.path) }
    }

    /// The texts with fields among its values.
    public var templates: [TextTemplate] {
        values.values.compactMap { if case .template(let template) = $0 { template } else { nil } }
    }

    /// The same with other texts.
    public func mappingTemplates(_ transform: (TextTemplate) -> TextTemplate) -> FilterInvocation {
        guard !templates.isEmpty else { return self }
        return FilterInvocation(
            filter: filter,
            values: values.mapValues { value in
                if case .template(let template) = value { .template(transform(template)) } else { value }
            })
    }

    /// The same with other references to its pictures.
    public func mappingPictures(_ transform: (PictureReference) -> PictureReference) -> FilterInvocation {
        guard !pictures.isEmpty else { return self }
        return with(
            values.mapValues { value in
                if case .picture(let picture) = value { .picture(transform(picture)) } else { value }
            })
    }
}

extension [FilterInvocation] {
    /// The values of metadata that its texts have, without repetitions.
    public var exifFields: Set<ExifField> { Set(flatMap { $0.templates.flatMap(\.exifFields) }) }

    /// The same with these values in its texts.
    ///
    /// - Parameter value: nil for a value that the picture does not have.
    public func filling(_ value: (ExifField) -> String?) -> [FilterInvocation] {
        map { filter in
            filter.mappingTemplates { template in
                template.filling { piece in
                    guard case .exif(let field) = piece else { return nil }
                    return value(field).map(TextTemplate.Piece.literal) ?? .missing(field)
                }
            }
        }
    }

    /// The paths of all filters, sorted, without repetitions.
    public var picturePaths: [String] { Set(flatMap { $0.pictures.values.map(\.path) }).sorted() }
}

extension JobSpec {
    /// The filters of the job and of all of its outputs.
    public var allFilters: [FilterInvocation] { chain + outputs.flatMap(\.ownChain) }

    /// The pictures that each input has of its own.
    public var pictureTemplates: Set<PictureTemplate> { Set(allFilters.flatMap(\.pictureTemplates.values)) }

    /// Whether it reads files in addition to the input.
    public var readsPictures: Bool {
        !picturePaths.isEmpty || allFilters.contains { !$0.pictureTemplates.isEmpty }
    }

    /// The paths of all files that it reads in addition to the input, sorted, without repetitions: pictures of filters, and colour
    /// profiles of outputs.
    public var picturePaths: [String] { Set(chain.picturePaths + outputs.flatMap(\.picturePaths)).sorted() }

    /// The same with other references to these files.
    public func mappingPictures(_ transform: (PictureReference) -> PictureReference) -> JobSpec {
        guard !picturePaths.isEmpty else { return self }
        var job = self
        job.chain = chain.map { $0.mappingPictures(transform) }
        job.outputs = outputs.map { $0.mappingPictures(transform) }
        return job
    }
}
