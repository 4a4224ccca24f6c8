@testable import Coordination

/// Reads one or two receipts, as `verify` and runs do with files beside outputs.
@c(LLVMFuzzerTestOneInput)
public func fuzzReceipt(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let receipts = Input(start, count).parts(2).map(Receipt.init)
    for case let receipt? in receipts {
        precondition(Receipt(receipt.bytes) == receipt, "a receipt that is written again is the same")
        precondition(receipt.saysTheSame(as: receipt), "a receipt agrees with itself")
    }
    if receipts.count == 2, let new = receipts[0], let earlier = receipts[1] {
        let completed = new.completed(by: earlier)
        precondition(Receipt(completed.bytes) == completed, "a completed receipt can be read")
    }
    return 0
}
