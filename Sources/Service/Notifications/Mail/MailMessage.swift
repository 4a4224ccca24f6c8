import FoundationEssentials
import JobModel
package import Queueing
import Reports

/// A mail in the form in which `sendmail -t` takes it (RFC 5322). sendmail adds the sender.
package struct MailMessage: Hashable, Sendable {
    package let text: String

    /// - Parameters:
    ///   - batch: Has one notice at least; all are of the same job.
    ///   - address: Was checked when the settings were read.
    ///   - id: Identifies the message. Other characters than letters, digits, `.`, `-` and `_` are dropped.
    package init(_ batch: MailDigest.Batch, to address: String, id: String, sent: WallTime) {
        let lines = Self.lines(batch)
        let isPlain = lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } && $0.utf8.count <= Self.longestLine }
        let body = lines.map { $0 + "\n" }.joined()
        let host = batch.notices.last?.host ?? ""
        let headers = [
            "To: \(Self.headerText(address))",
            "Subject: \(Self.encoded(Self.subject(batch)))",
            "Date: \(Self.date(sent))",
            "Message-ID: <\(Self.identifier(id))@\(Self.identifier(host))>",
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=\(isPlain ? "us-ascii" : "utf-8")",
            "Content-Transfer-Encoding: \(isPlain ? "7bit" : "base64")",
        ]
        let content = isPlain ? body : Self.base64(body)
        text = headers.joined(separator: "\n") + "\n\n" + content
    }

    /// In bytes, of the 998 that a line may have.
    private static let longestLine = 990

    static func subject(_ batch: MailDigest.Batch) -> String {
        guard let last = batch.notices.last else { return "Penumbra" }
        let count = batch.notices.count + batch.omitted
        let host = VisibleText.line(last.host)
        guard count > 1 else { return "Penumbra: \(last.headline) (\(host))" }
        let failures = batch.notices.count { $0.isFailure }
        let words = failures == 0 ? "" : ", \(Figures.plural(failures, "failure"))"
        return "Penumbra: \(VisibleText.line(last.job)): \(Figures.plural(count, "notice"))\(words) (\(host))"
    }

    private static func lines(_ batch: MailDigest.Batch) -> [String] {
        var lines: [String] = []
        if batch.omitted > 0 {
            lines += ["\(Figures.plural(batch.omitted, "earlier notice")) of this job are not shown.", ""]
        }
        for (index, notice) in batch.notices.enumerated() {
            if index > 0 { lines += ["", String(repeating: "-", count: 60), ""] }
            lines += notice.lines
        }
        return lines
    }

    /// Printable ASCII alone. A line break would begin another header.
    private static func headerText(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20...0x7e).contains($0) }, as: UTF8.self)
    }

    private static func identifier(_ text: String) -> String {
        let bytes = text.utf8.filter { byte in
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        return bytes.isEmpty ? "penumbra" : String(decoding: bytes.prefix(200), as: UTF8.self)
    }

    /// `Thu, 26 Nov 2026 06:00:00 +0000`
    static func date(_ time: WallTime) -> String {
        let day = CalendarDay(daysSince1970: time.seconds / 86_400)
        let weekday = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][day.weekday]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        // The clock's part of `2026-11-26T06:00:00Z`.
        let clock = time.text.dropFirst(11).prefix(8)
        return "\(weekday), \(day.day) \(months[day.month - 1]) \(day.year) \(clock) +0000"
    }

    /// The value of a header: printable ASCII as it is, and all else in encoded words (RFC 2047) on lines of their own.
    static func encoded(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (0x20...0x7e).contains($0) } && !text.contains("=?")
        if isPlain, text.utf8.count <= longestLine - "Subject: ".utf8.count { return text }
        var words: [String] = []
        var word: [UInt8] = []
        func finish() {
            guard !word.isEmpty else { return }
            words.append("=?utf-8?B?\(Data(word).base64EncodedString())?=")
            word = []
        }
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            // An encoded word has at most 75 characters, and no character may be divided.
            if word.count + bytes.count > 45 { finish() }
            word += bytes
        }
        finish()
        return words.joined(separator: "\n ")
    }

    private static func base64(_ body: String) -> String {
        let text = Array(Data(body.utf8).base64EncodedString().utf8)
        return stride(from: 0, to: text.count, by: 76).map { start in
            String(decoding: text[start..<min(start + 76, text.count)], as: UTF8.self) + "\n"
        }.joined()
    }
}
