import JobModel
import Manifests

/// Who gets a notification.
package enum NotificationTarget: Hashable, Sendable {
    /// A program that listens at an address. The secret in the file signs each message. Without one, messages are not
    /// signed.
    case webhook(address: String, secretFile: String?)
    /// An address of mail, or the name of a user of this machine.
    case mail(String)

    /// For messages. Addresses of webhooks are often secret, so only the host is shown.
    package var shown: String {
        switch self {
        case .webhook(let address, _): "webhook \(Self.host(of: address))"
        case .mail(let address): "mail \(address)"
        }
    }

    /// The host of an address, and its port if it has one.
    package static func host(of address: String) -> String {
        let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return authority.lastIndex(of: "@").map { String(authority[authority.index(after: $0)...]) }
            ?? String(authority)
    }

    /// The most targets of one rule. All of them are told at the same time.
    static let most = 20
    fileprivate static let example =
        "{mail: ops@example.org}, or {webhook: https://example.org/hook, secret_file: FILE}"
}

/// A job that has to succeed once a day before a time.
package struct ExpectedSuccess: Hashable, Sendable {
    package let job: String
    /// Minutes since midnight.
    package let minute: Int
    /// A name of the time zone database. Nil for the zone of the machine.
    package let zone: String?
    package let targets: [NotificationTarget]

    package init(job: String, minute: Int, zone: String?, targets: [NotificationTarget]) {
        self.job = job
        self.minute = minute
        self.zone = zone
        self.targets = targets
    }

    /// `06:00`
    package var time: String {
        let (hour, rest) = (minute / 60, minute % 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }
}

/// The block `notifications` of a config file.
struct NotificationOptions {
    var sendmail: String?
    var late: [ExpectedSuccess] = []

    /// The most expectations, so that the service can judge all of them at every look.
    static let mostExpectations = 1000
}

extension ValueReader where Value == [NotificationTarget] {
    /// A list of targets, or a single one.
    ///
    /// - Parameter path: Reads the path of a file.
    static func targets(_ path: ValueReader<String>) -> ValueReader {
        ValueReader { node, name, log in
            let targets = list(of: .target(path)).read(node, for: name, log: log)
            if let targets, targets.count > NotificationTarget.most {
                log.error(
                    .other(
                        Words(
                            "'\(name)' has \(targets.count) targets",
                            remedy: "write at most \(NotificationTarget.most); a mailing list reaches many people")),
                    at: node.span)
                return nil
            }
            return targets
        }
    }
}

extension ValueReader where Value == [NotificationTarget] {
    /// The same, with one target at least.
    fileprivate static func someTargets(_ path: ValueReader<String>) -> ValueReader {
        ValueReader { node, name, log in
            if node.content == .sequence([]) {
                log.error(.value(.emptyList(name: name)), at: node.span)
                return nil
            }
            return targets(path).read(node, for: name, log: log)
        }
    }
}

extension ValueReader where Value == NotificationTarget {
    fileprivate static func target(_ path: ValueReader<String>) -> ValueReader {
        ValueReader { node, name, log in
            guard
                var reader = MappingReader(node, of: "'\(name)'", example: NotificationTarget.example, log: log)
            else { return nil }
            let (hasWebhook, hasMail) = (reader.entry("webhook") != nil, reader.entry("mail") != nil)
            let address = reader.optional("webhook", .webAddress)
            let mail = reader.optional("mail", .mailAddress)
            let secret = reader.entry("secret_file")
            let secretFile = reader.optional("secret_file", path)
            reader.finish(aliases: ["url": "webhook", "email": "mail", "to": "mail"]) { entry in
                guard entry.key == "secret" else { return nil }
                return .other(
                    Words(
                        "a secret is not written into the config file",
                        remedy: "write it into a file that only you can read, and name that: secret_file: FILE"))
            }
            let problem: Words? =
                switch (hasWebhook, hasMail) {
                case (true, true):
                    Words(
                        "'\(name)' has both a webhook and a mail",
                        remedy: "write each target as an item of its own: - {mail: ops@example.org}")
                case (false, true) where secret != nil:
                    Words("a mail has no secret", remedy: "leave out 'secret_file'")
                case (false, false) where reader.mapping.entries.allSatisfy({ reader.known.contains($0.key) }):
                    Words("'\(name)' has no webhook and no mail", remedy: "write \(NotificationTarget.example)")
                case (true, false), (false, true), (false, false): nil
                }
            if let problem {
                log.error(.other(problem), at: reader.span)
                return nil
            }
            if let address, secret == nil || secretFile != nil {
                return .webhook(address: address, secretFile: secretFile)
            }
            return mail.map { .mail($0) }
        }
    }
}

extension ValueReader where Value == NotificationOptions {
    /// - Parameter fallback: The targets of expectations that name none.
    static func notifications(_ path: ValueReader<String>, fallback: [NotificationTarget]) -> ValueReader {
        ValueReader { node, name, log in
            guard var reader = MappingReader(node, of: "'\(name)'", log: log) else { return nil }
            var options = NotificationOptions()
            options.sendmail = reader.optional("sendmail", path)
            options.late = reader.value("late", .expectations(path, fallback), default: [])
            reader.finish(aliases: ["lateness": "late", "expect": "late"])
            return options
        }
    }
}

extension ValueReader where Value == [ExpectedSuccess] {
    fileprivate static func expectations(
        _ path: ValueReader<String>, _ fallback: [NotificationTarget]
    ) -> ValueReader {
        ValueReader { node, name, log in
            let expectations = list(of: .expectation(path, fallback)).read(node, for: name, log: log)
            if let expectations, expectations.count > NotificationOptions.mostExpectations {
                log.error(
                    .other(
                        Words(
                            "'\(name)' has \(expectations.count) items",
                            remedy: "write at most \(NotificationOptions.mostExpectations)")), at: node.span)
                return nil
            }
            return expectations
        }
    }
}

extension ValueReader where Value == ExpectedSuccess {
    fileprivate static func expectation(
        _ path: ValueReader<String>, _ fallback: [NotificationTarget]
    ) -> ValueReader {
        ValueReader { node, name, log in
            let example = "{job: archive, expect_by: 06:00}"
            guard var reader = MappingReader(node, of: "'\(name)'", example: example, log: log) else { return nil }
            let job = reader.required("job", .nonEmptyText, example: "archive")
            let minute = reader.required("expect_by", .timeOfDay, example: "06:00")
            let hasZone = reader.entry("zone") != nil
            let zone = reader.optional("zone", .zoneName)
            let hasTargets = reader.entry("to") != nil
            let targets = reader.optional("to", .someTargets(path)) ?? []
            reader.finish(aliases: ["by": "expect_by", "schedule": "job", "timezone": "zone", "targets": "to"])
            guard let job, let minute, zone != nil || !hasZone else { return nil }
            if targets.isEmpty, hasTargets || fallback.isEmpty {
                // Wrong targets were reported.
                if !hasTargets {
                    log.error(
                        .other(
                            Words(
                                "nobody would be told that '\(job.visible)' is late",
                                remedy: "add 'to: [{mail: ops@example.org}]', or a list 'on_failure'")),
                        at: reader.span)
                }
                return nil
            }
            return ExpectedSuccess(job: job, minute: minute, zone: zone, targets: hasTargets ? targets : fallback)
        }
    }
}

extension ValueReader where Value == Int {
    /// Minutes since midnight, from a text such as `06:00`.
    fileprivate static var timeOfDay: ValueReader {
        checked("a time of day", remedy: "write hours and minutes: 06:00, or 23:30") { text in
            let bytes = Array(text.utf8)
            guard bytes.count == 5, bytes[2] == UInt8(ascii: ":") else { return nil }
            let digits = [0, 1, 3, 4].map { Int(bytes[$0]) - 48 }
            guard digits.allSatisfy((0...9).contains) else { return nil }
            let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
            return hour < 24 && minute < 60 ? hour * 60 + minute : nil
        }
    }
}

extension ValueReader where Value == String {
    /// An address with http or https. curl gets it in a quoted line.
    fileprivate static var webAddress: ValueReader {
        checked("an address", remedy: "write it like https://example.org/hook, in at most 2000 characters") { text in
            guard ["https://", "http://"].contains(where: text.hasPrefix), text.utf8.count <= 2000,
                text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
                !text.utf8.contains(UInt8(ascii: "\"")), !text.utf8.contains(UInt8(ascii: "\\")),
                !NotificationTarget.host(of: text).isEmpty
            else { return nil }
            return text
        }
    }

    /// An address of mail in its usual form. It becomes a line of a message's head.
    fileprivate static var mailAddress: ValueReader {
        checked("an address of mail", remedy: "write it like ops@example.org, or the name of a user: root") { text in
            func isPlain(_ byte: UInt8, _ marks: String) -> Bool {
                switch byte {
                case 48...57, 65...90, 97...122: true
                default: marks.utf8.contains(byte)
                }
            }
            let parts = text.split(separator: "@", omittingEmptySubsequences: false)
            guard parts.count <= 2, text.utf8.count <= 254, let user = parts.first, !user.isEmpty,
                !user.hasPrefix("-"), user.utf8.allSatisfy({ isPlain($0, "!#$%&'*+-/=?^_`{|}~.") }),
                parts.count == 1 || !parts[1].isEmpty && parts[1].utf8.allSatisfy({ isPlain($0, ".-") })
            else { return nil }
            return text
        }
    }

    /// A name such as `Europe/Berlin`. The service finds the zone.
    static var zoneName: ValueReader {
        checked("a time zone", remedy: "write a name of the time zone database: Europe/Berlin, or UTC") { text in
            let isName =
                (1...64).contains(text.utf8.count)
                && text.utf8.allSatisfy { byte in
                    switch byte {
                    case 48...57, 65...90, 97...122: true
                    default: "/_+-".utf8.contains(byte)
                    }
                }
            return isName ? text : nil
        }
    }
}

extension ValueReader {
    /// A scalar that `parse` accepts.
    ///
    /// - Parameter wanted: The kind of value with an article.
    static func checked(
        _ wanted: String, remedy: String, _ parse: @escaping (String) -> Value?
    ) -> ValueReader {
        ValueReader { node, name, log in
            guard let text = node.text else {
                log.error(.value(.wrongKind(name: name, wanted: wanted, found: node.kindName)), at: node.span)
                return nil
            }
            guard let value = parse(text) else {
                log.error(
                    .other(Words("'\(name)' needs \(wanted), and '\(text.visible)' is none", remedy: remedy)),
                    at: node.span)
                return nil
            }
            return value
        }
    }
}

extension String {
    /// For messages.
    var visible: String { VisibleText.line(String(prefix(200))) }
}
