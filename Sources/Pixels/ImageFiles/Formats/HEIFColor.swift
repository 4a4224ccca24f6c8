/// What a HEIF file says of a picture's colours: the `nclx` of its properties, else that of the tiles it is made of, else what the coded
/// pictures say themselves (AV1 alone).
enum HEIFColor {
    /// - Throws: also where libheif counts other pictures than the file has, and their colours differ.
    static func stated(
        in contents: HEIFContents, of picture: LoadedPicture, _ file: InputFile
    ) throws(UnsupportedFeature) -> StatedColor? {
        func statement(_ item: Int) throws(UnsupportedFeature) -> StatedColor? {
            guard let codes = codes(of: item, contents, file) else { return nil }
            return try StatedColor.coded(
                primaries: codes.primaries, transfer: codes.transfer, outranksProfile: false)
        }
        guard let page = picture.page else {
            return try contents.primary.flatMap { item throws(UnsupportedFeature) in try statement(item) }
        }
        if contents.pages.count == picture.pages, contents.pages.indices.contains(page) {
            return try statement(contents.pages[page])
        }
        let remedy = "save each of them in a file of its own"
        var (looks, colors) = (0, Set<StatedColor?>())
        for item in contents.pages {
            looks += contents.origins(of: item).count
            guard looks <= mostLooks else {
                throw UnsupportedFeature("more pictures, in an unclear order, than can be compared", remedy: remedy)
            }
            colors.insert(try statement(item))
            guard colors.count == 1 else {
                throw UnsupportedFeature("pictures in several colours whose order is unclear", remedy: remedy)
            }
        }
        return colors.first ?? nil
    }

    /// Pictures and their parts that are looked at where the order of pictures is unclear.
    private static let mostLooks = 50_000

    private static func codes(
        of item: Int, _ contents: HEIFContents, _ file: InputFile
    ) -> (primaries: Int, transfer: Int)? {
        let origins = contents.origins(of: item)
        for property in origins.lazy.flatMap({ contents.properties("colr", of: $0) })
        where property.starts(with: "nclx".utf8) {
            let data = ICCData(property)
            if let primaries = data.integer(at: 4, length: 2), let transfer = data.integer(at: 6, length: 2) {
                return (primaries, transfer)
            }
        }
        guard let coded = origins.first(where: { !contents.properties("av1C", of: $0).isEmpty }) else { return nil }
        // Four bytes come before the header, which most writers leave to the picture itself.
        return contents.properties("av1C", of: coded).first.flatMap { AV1Color.codes(in: $0.dropFirst(4)) }
            ?? contents.start(of: coded, count: AV1Color.enough, in: file).flatMap { AV1Color.codes(in: $0[...]) }
    }
}
