package import JobModel

extension ImageMetadata {
    package subscript(field: MetadataField) -> Blob? {
        switch field {
        case .icc: icc
        case .exif: exif
        case .xmp: xmp
        case .iptc: iptc
        }
    }

    /// What an output of `shape` carries.
    ///
    /// | policy | profile | EXIF | XMP, IPTC | resolution |
    /// |---|---|---|---|---|
    /// | keep | yes | all that ``ExifRules`` and ``XMPRules`` allow | yes | yes |
    /// | public | yes | only tags that are known to be harmless, copyright among them | no | yes |
    /// | icc | yes | no | no | no |
    /// | strip | no | no | no | no |
    ///
    /// How an animation's frames follow each other is part of the picture. A profile that does not fit the layout is no one's: see ``ImageFormat/colorPolicy(for:asked:metadata:)``.
    package func carried(by policy: MetadataPolicy, shape: ImageShape) -> ImageMetadata {
        var result = ImageMetadata(animation: animation, isConverted: isConverted)
        if policy != .strip, let icc, ICCProfile(icc.bytes)?.fits(shape.layout) ?? false { result.icc = icc }
        guard policy == .keep || policy == .public else { return result }
        result.resolution = resolution
        result.exif = exif.flatMap {
            ExifRules.apply(
                to: $0.bytes, shape: shape, resolution: resolution, isPublic: policy == .public,
                isConverted: isConverted)
        }.map(Blob.init)
        guard policy == .keep else { return result }
        result.xmp = xmp.flatMap { XMPRules.apply(to: $0.bytes, isConverted: isConverted) }.map(Blob.init)
        result.iptc = iptc.flatMap { $0.bytes.holdsJPEG ? nil : $0 }
        return result
    }
}
