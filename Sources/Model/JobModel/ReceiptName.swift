/// Where the receipt of an output lies: `out/a.webp.receipt.json` beside `out/a.webp`.
package enum ReceiptName {
    package static let ending = ".receipt.json"

    package static func path(of output: String) -> String { output + ending }

    /// The output whose receipt lies at a path; nil for any other file.
    package static func output(of path: String) -> String? {
        isReceipt(path.utf8) ? String(Substring(path.utf8.dropLast(ending.utf8.count))) : nil
    }

    /// - Parameter name: of a file, or its path.
    package static func isReceipt(_ name: some BidirectionalCollection<UInt8>) -> Bool {
        name.count > ending.utf8.count && name.suffix(ending.utf8.count).elementsEqual(ending.utf8)
    }
}
