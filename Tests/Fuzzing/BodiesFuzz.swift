@testable import ServiceAPI

/// Reads the body of a request. What is read as JSON must be the same for Foundation.
@c(LLVMFuzzerTestOneInput)
public func fuzzBodies(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Input(start, count).bytes
    body(SubmitRequest.self, bytes)
    body(JobChange.self, bytes)
    body(ActionRequest.self, bytes)
    body(RetryRequest.self, bytes)
    body(VerifyRequest.self, bytes)
    body(PreviewOrder.self, bytes)
    body(TokenRequest.self, bytes)
    body(TokenChange.self, bytes)
    body(TokenRenewal.self, bytes)
    body(ScheduleRequest.self, bytes)
    body(ScheduleChange.self, bytes)
    body(SignInRequest.self, bytes)
    guard let value = try? JSONReader.value(of: bytes, limit: 1 << 20), value.isComparable else { return 0 }
    precondition(JSONTree(bytes) == value.tree, "Foundation reads the same value")
    return 0
}

private func body<Body: Decodable>(_ type: Body.Type, _ bytes: [UInt8]) {
    do throws(BodyError) {
        _ = try StrictJSON.decode(type, from: bytes)
    } catch {
        precondition(!"\(error)".isEmpty, "a refusal has words")
    }
}

extension JSONValue {
    /// Foundation refuses numbers that are too large. Both know that a key must not occur twice.
    fileprivate var isComparable: Bool {
        switch self {
        case .null, .truth, .text: true
        case .number(let text): JSONTree.isComparable(text)
        case .list(let items): items.allSatisfy(\.isComparable)
        case .object(let object): object.members.values.allSatisfy(\.isComparable)
        }
    }

    fileprivate var tree: JSONTree {
        switch self {
        case .null: .null
        case .truth(let truth): .truth(truth)
        case .number(let text): .number(Double(text) ?? .nan)
        case .text(let text): .text(Array(text.utf8))
        case .list(let items): .list(items.map(\.tree))
        case .object(let object):
            .object(Dictionary(object.members.map { (Array($0.key.utf8), $0.value.tree) }) { first, _ in first })
        }
    }
}
