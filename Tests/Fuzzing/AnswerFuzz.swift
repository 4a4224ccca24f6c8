@testable import ServiceClient

/// Reads the answer of a service, its events, and the address of one.
@c(LLVMFuzzerTestOneInput)
public func fuzzAnswer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    let step = input.choice(64) + 1
    let whole = pieces(of: input.bytes, step: max(1, input.bytes.count))
    precondition(pieces(of: input.bytes, step: step) == whole, "an answer does not depend on how its bytes come")
    let all = events(of: input.bytes, step: max(1, input.bytes.count))
    precondition(events(of: input.bytes, step: step) == all, "events do not depend on how their bytes come")
    _ = try? ServiceAddress(text: input.text)
    return 0
}

private struct Answer: Equatable {
    var heads: [String] = []
    var body: [UInt8] = []
    var isWrong = false
}

private func pieces(of bytes: [UInt8], step: Int) -> Answer {
    var (parser, answer) = (AnswerParser(largestBody: 2048), Answer())
    for first in stride(from: 0, to: bytes.count, by: step) {
        parser.append(bytes[first..<min(bytes.count, first + step)])
        do throws(ExchangeFault) {
            while let piece = try parser.next() {
                switch piece {
                case .head(let head): answer.heads.append("\(head)")
                case .body(let part): answer.body += part
                }
            }
        } catch {
            // How much of the body came before depends on the steps.
            return Answer(heads: answer.heads, isWrong: true)
        }
    }
    precondition(answer.body.count <= 2048, "a body has its limit")
    return answer
}

private func events(of bytes: [UInt8], step: Int) -> [String] {
    var (parser, events) = (EventParser(after: nil), [String]())
    for first in stride(from: 0, to: bytes.count, by: step) {
        do throws(ExchangeFault) {
            events += try parser.append(bytes[first..<min(bytes.count, first + step)]).map { "\($0)" }
        } catch {
            return ["wrong"]
        }
    }
    return events
}
