import Foundation
@testable import InPlace
import JobModel

/// Reads a record of an original, which may lie beside pictures of several people.
@c(LLVMFuzzerTestOneInput)
public func fuzzOriginals(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let parts = Input(start, count).parts(2)
    if let name = RecordName(String(decoding: parts[0], as: UTF8.self)) {
        precondition(!name.picture.contains(".") && !name.object.contains("."), "a name is read by its dots")
    }
    guard parts.count == 2, let record = try? JSONDecoder().decode(KeptOriginal.self, from: Data(parts[1])),
        record.isPlausible
    else { return 0 }
    precondition(!record.objectName.contains("/"), "the original lies among the originals")
    precondition(!record.key.isEmpty && !record.key.contains(0), "the key is a path")
    // A library that computes no digests is a fault of this machine.
    guard let name = try? record.recordName(random: "0") else { return 0 }
    precondition((try? RecordName(name).map(record.fits)) == true, "a record fits its own name")
    let again = (try? JSONEncoder().encode(record)).flatMap { try? JSONDecoder().decode(KeptOriginal.self, from: $0) }
    precondition(again == record, "a record that is written again is the same")
    for (content, sha256) in [(record.original, record.sha256), (record.blurred, nil)] {
        let picture = PictureContent(bytes: content.bytes, user: 0, sha256: sha256, reported: content)
        _ = (record.isOriginal(picture), record.isBlurred(picture), record.mayBe(content.bytes), record.isChanged)
    }
    return 0
}
