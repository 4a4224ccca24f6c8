@testable import ImageFiles
import JobModel

/// Rewrites XMP, IPTC records, Photoshop's resources and texts of PNG files.
@c(LLVMFuzzerTestOneInput)
public func fuzzXMP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    let policy = input.choice(256)
    let parts = input.parts(2)
    let kinds: Set<MetadataKind>? =
        policy & 1 == 0
        ? nil : Set(MetadataKind.allCases.enumerated().filter { policy >> ($0.0 % 7 + 1) & 1 == 1 }.map(\.1))
    let records = IPTCRules.apply(to: parts.last ?? [], kinds: kinds)
    let properties = records.map(IPTCRules.properties) ?? []
    let packet = XMPRules.apply(to: parts[0], kinds: kinds, isConverted: policy & 2 == 2, adding: properties)
    if let packet {
        precondition(!XMPRules.holdsBinary(packet), "an output's XMP contains no picture")
        precondition(String(validating: packet, as: UTF8.self) != nil, "an output's XMP is text")
        precondition(isWellFormed(packet), "an output's XMP is well-formed")
    }
    if let added = properties.packet { precondition(isWellFormed(added), "the XMP of records is well-formed") }
    if let records = PhotoshopResources.iptc(in: parts[0]) {
        precondition(
            PhotoshopResources.iptc(in: PhotoshopResources.wrapping(records).bytes) == records, "records stay the same")
    }
    for chunk in PNGText.chunks {
        guard let text = PNGText(chunk: chunk, payload: input.bytes) else { continue }
        _ = (text.isText, text.xmp, text.block { "exif\n4\n49492a00" }, text.carried(by: kinds))
    }
    precondition(TimeZones.removed(from: parts[0]).count <= parts[0].count, "a date gets no longer")
    return 0
}

private func isWellFormed(_ packet: [UInt8]) -> Bool {
    var scanner = XMLScanner(packet)
    do throws(XMLScanner.MalformedError) {
        while try scanner.next() != nil {}
        return true
    } catch {
        return false
    }
}
