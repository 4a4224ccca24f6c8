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
    /// Under `keep` that is everything which ``ExifRules``, ``XMPRules`` and ``IPTCRules`` allow; else what the policy names, in whichever
    /// block it is. How an animation's frames follow each other is part of the picture. A profile that does not fit the
    /// layout is no one's: see ``ImageFormat/colorPolicy(for:asked:save:output:)``.
    ///
    /// - Parameter holdsIPTC: whether the output has a place for IPTC records. Else XMP tells what they say and it does not.
    package func carried(by policy: MetadataPolicy, shape: ImageShape, holdsIPTC: Bool = true) -> ImageMetadata {
        let kinds = policy.kinds
        func isWanted(_ kind: MetadataKind) -> Bool { kinds?.contains(kind) ?? true }
        var result = ImageMetadata(animation: animation, isConverted: isConverted)
        if isWanted(.icc), let icc, ICCProfile(icc.bytes)?.fits(shape.layout) ?? false { result.icc = icc }
        if isWanted(.resolution) { result.resolution = resolution }
        result.exif = exif.flatMap {
            ExifRules.apply(
                to: $0.bytes, shape: shape, resolution: result.resolution, kinds: kinds, isConverted: isConverted)
        }.map(Blob.init)
        let records = iptc.flatMap { IPTCRules.apply(to: $0.bytes, kinds: kinds) }
        if holdsIPTC { result.iptc = records.map(Blob.init) }
        let told = holdsIPTC ? [] : records.map(IPTCRules.properties) ?? []
        let packet = xmp.flatMap {
            XMPRules.apply(to: $0.bytes, kinds: kinds, isConverted: isConverted, adding: told)
        }
        result.xmp = (packet ?? told.packet).map(Blob.init)
        result.texts = texts.compactMap { $0.carried(by: kinds) }
        return result
    }
}
