@testable import Planning

/// Reads a list of files, and one JSON value. What is read as JSON must be the same for Foundation.
@c(LLVMFuzzerTestOneInput)
public func fuzzList(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Input(start, count).bytes
    do throws(FileListError) {
        let list = try FileList(bytes, name: "-", folder: "/photos")
        for entry in list.entries { precondition(entry.path.utf8.first == PathBytes.slash, "a path is absolute") }
    } catch {
        precondition(!error.problems.isEmpty, "a list is refused for a reason")
    }
    // Foundation keeps one of two members with the same key.
    guard let value = try? JSONScanner.value(of: bytes), value.isComparable else { return 0 }
    precondition(JSONTree(bytes) == value.tree, "Foundation reads the same value")
    return 0
}

extension JSONValue {
    fileprivate var isComparable: Bool {
        switch self {
        case .null, .truth, .text: true
        case .number(let text): JSONTree.isComparable(text)
        case .list(let items): items.allSatisfy(\.isComparable)
        case .object(let members):
            Set(members.map { Array($0.key.utf8) }).count == members.count
                && Set(members.map(\.key)).count == members.count && members.allSatisfy(\.value.isComparable)
        }
    }

    fileprivate var tree: JSONTree {
        switch self {
        case .null: .null
        case .truth(let truth): .truth(truth)
        case .number(let text): .number(Double(text) ?? .nan)
        case .text(let text): .text(Array(text.utf8))
        case .list(let items): .list(items.map(\.tree))
        case .object(let members):
            .object(Dictionary(members.map { (Array($0.key.utf8), $0.value.tree) }) { first, _ in first })
        }
    }
}
