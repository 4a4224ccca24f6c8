public import Catalogs

/// One filter of a chain with its values. Fallbacks stand for values that the manifest does not give.
public struct FilterInvocation: Hashable, Sendable, Codable {
    public let filter: String
    /// By parameter name, never a synonym. A parameter without value and fallback is missing.
    public let values: [String: ParameterValue]

    public init(filter: String, values: [String: ParameterValue]) {
        self.filter = filter
        self.values = values
    }
}

extension [FilterInvocation] {
    /// The chain with only one frame, from 0, of the animation at its end.
    public func showing(frame: Int) -> [FilterInvocation] {
        guard let last else { return self }
        let shown = last.values.merging([FilterInvocation.frame: .integer(frame + 1)]) { $1 }
        return dropLast() + [FilterInvocation(filter: last.filter, values: shown)]
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

    /// The file that has the regions of the pictures. Nil if there is none.
    public var regionFile: RegionFile? {
        values.values.lazy.compactMap { if case .regionFile(let file) = $0 { file } else { nil } }.first
    }

    /// The same for the whole picture, if a file has the regions. A worker can make only such a filter.
    public var withoutRegionFile: FilterInvocation {
        let whole = Region(x: .pixels(0), y: .pixels(0), width: .percent(100), height: .percent(100))
        return FilterInvocation(
            filter: filter, values: values.mapValues { if case .regionFile = $0 { .region(whole) } else { $0 } })
    }

    /// The same with other references to its pictures.
    public func mappingPictures(_ transform: (PictureReference) -> PictureReference) -> FilterInvocation {
        guard !pictures.isEmpty else { return self }
        return FilterInvocation(
            filter: filter,
            values: values.mapValues { value in
                if case .picture(let picture) = value { .picture(transform(picture)) } else { value }
            })
    }
}

extension [FilterInvocation] {
    /// The paths of all filters, sorted, without repetitions.
    public var picturePaths: [String] { Set(flatMap { $0.pictures.values.map(\.path) }).sorted() }
}

extension JobSpec {
    /// The filters of the job and of all of its outputs.
    public var allFilters: [FilterInvocation] { chain + outputs.flatMap(\.ownChain) }

    /// The paths of all pictures that its filters read in addition to the input, sorted, without repetitions.
    public var picturePaths: [String] { allFilters.picturePaths }

    /// The same with other references to these pictures.
    public func mappingPictures(_ transform: (PictureReference) -> PictureReference) -> JobSpec {
        guard !picturePaths.isEmpty else { return self }
        var job = self
        job.chain = chain.map { $0.mappingPictures(transform) }
        job.outputs = outputs.map { $0.mappingPictures(transform) }
        return job
    }
}
