extension JobVariant {
    /// The same job over other pictures.
    func with(_ pictures: [Picture]) -> JobVariant {
        JobVariant(
            name: name, pictures: pictures, filters: filters, output: output, more: more, workers: workers,
            isTiled: isTiled, hasFolders: hasFolders, hasBrokenPicture: hasBrokenPicture)
    }
}
