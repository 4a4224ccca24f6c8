import Catalogs
import JobModel
import WorkerProtocol

/// As what a picture is written that takes its own place: as what it is.
enum InPlaceFormat {
    /// Why it cannot be.
    struct Refusal: Error, Hashable {
        let reason: String
    }

    static func format(of probe: ProbeReceipt, _ catalog: Catalog) throws(Refusal) -> FormatDescriptor {
        let name = probe.source.fileFormat
        guard let format = catalog.formats.first(where: { $0.name == name }), format.canWrite, !format.isFolder else {
            throw Refusal(
                reason: "Penumbra reads \(name), but does not write it; 'penumbra apply' writes another format")
        }
        guard probe.pages == 1 || format.holdsAnimation else {
            throw Refusal(reason: "has \(probe.pages) pages, of which only the first would be left")
        }
        guard format.sampleFormats.contains(probe.source.format) else {
            throw Refusal(
                reason: "has samples of a kind (\(probe.source.format)) that Penumbra does not write as \(name)")
        }
        return format
    }

    /// What of another kind is made of the picture.
    static func conversions(of probe: ProbeReceipt) -> Set<InPlaceConversion> {
        var found = Set((probe.losses ?? []).map(InPlaceConversion.init))
        if probe.source.fileFormat == "ppm", [.gray, .grayAlpha].contains(probe.source.layout) {
            found.insert(.grayMap)
        }
        return found
    }

    /// With a quality that is two thirds of the way from the usual one to the best: what replaces a picture is not to look
    /// worse than its filters make it.
    static func options(of format: FormatDescriptor) -> SaveOptions {
        var values: [String: ParameterValue] = [:]
        for option in format.options { values[option.name] = option.fallback }
        if !format.isLossless, let quality = format.options.first(where: { $0.name == "quality" }),
            case .integer(_, let best) = quality.kind, case .integer(let usual) = quality.fallback
        {
            values["quality"] = .integer(usual + (best - usual) * 2 / 3)
        }
        return SaveOptions(values: values)
    }
}

extension InPlaceConversion {
    fileprivate init(_ loss: DecodingLoss) {
        self =
            switch loss {
            case .cmyk: .cmyk
            case .lab: .lab
            case .doubles: .doubles
            case .furtherPictures: .furtherPictures
            }
    }
}
