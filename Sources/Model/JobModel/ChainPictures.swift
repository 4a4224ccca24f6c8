public import Catalogs

extension FilterInvocation {
    /// The pictures that its parameters name, by parameter.
    public var pictures: [String: PictureReference] {
        values.compactMapValues { value in
            if case .picture(let picture) = value { picture } else { nil }
        }
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
    /// Of all filters, each path once, in order.
    public var picturePaths: [String] { Set(flatMap { $0.pictures.values.map(\.path) }).sorted() }
}

extension JobSpec {
    /// The paths of all pictures that its filters read beside their input, each once, in order.
    public var picturePaths: [String] { (chain + outputs.flatMap(\.ownChain)).picturePaths }

    /// The same with other references to these pictures.
    public func mappingPictures(_ transform: (PictureReference) -> PictureReference) -> JobSpec {
        guard !picturePaths.isEmpty else { return self }
        var job = self
        job.chain = chain.map { $0.mappingPictures(transform) }
        job.outputs = outputs.map { $0.mappingPictures(transform) }
        return job
    }
}
