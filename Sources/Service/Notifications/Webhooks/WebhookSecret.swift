import ContentNames
import FoundationEssentials
import Glibc
import JobModel
import SafeFiles

/// The secret that signs the messages to a webhook (Standard Webhooks): `whsec_` and 24 to 64 bytes in Base64.
package struct WebhookSecret: Sendable {
    private let key: [UInt8]

    private static let prefix = "whsec_"
    private static let lengths = 24...64
    /// Of the file, in bytes.
    private static let longestFile = 4096

    /// Nil if the text is no such secret. White space around it is ignored.
    package init?(_ text: String) {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 1, words[0].hasPrefix(Self.prefix),
            let key = Data(base64Encoded: String(words[0].dropFirst(Self.prefix.count))),
            Self.lengths.contains(key.count)
        else { return nil }
        self.key = Array(key)
    }

    /// Reads a secret from a file of this user or of root.
    package static func read(_ path: String) throws(WebhookSecretError) -> WebhookSecret {
        let bytes: [UInt8]
        do {
            let parent = PathNames.folder(of: path) ?? ""
            let folder = try SafeFolder(parent.isEmpty ? "/" : parent, trusting: .everybody)
            guard let file = try folder.file(PathNames.last(of: path)) else { throw WebhookSecretError.missing(path) }
            let status = try file.status()
            guard status.st_uid == 0 || status.st_uid == geteuid() else { throw WebhookSecretError.foreign(path) }
            guard status.st_mode & 0o007 == 0 else { throw WebhookSecretError.open(path) }
            bytes = try file.next(longestFile)
        } catch let error as WebhookSecretError {
            throw error
        } catch let error as FileError {
            throw .unreadable(error.message)
        } catch {
            throw .unreadable("\(path): \(error)")
        }
        guard let secret = WebhookSecret(String(decoding: bytes, as: UTF8.self)) else { throw .malformed(path) }
        return secret
    }

    /// The value of `webhook-signature`. Nil if the library of hashes has failed.
    ///
    /// - Parameter seconds: The time of `webhook-timestamp`, since 1970.
    package func signature(id: String, seconds: Int, body: String) -> String? {
        MessageCode.hmacSHA256(of: Array("\(id).\(seconds).\(body)".utf8), key: key).map {
            "v1,\(Data($0).base64EncodedString())"
        }
    }
}

/// Why a file has no secret that can be used.
package enum WebhookSecretError: Error, Hashable, Sendable {
    case missing(String)
    case foreign(String)
    /// Everybody can read it.
    case open(String)
    case unreadable(String)
    case malformed(String)

    /// One line that says where and what, and a line that begins with `   = ` and says what to do.
    package var message: String {
        switch self {
        case .missing(let path):
            "\(shown(path)): there is no such file\n   = correct 'secret_file' in the config file"
        case .foreign(let path):
            "\(shown(path)): the secret belongs to another user\n   = use a file of your own"
        case .open(let path):
            "\(shown(path)): everybody can read or write the secret\n   = chmod 600 \(shown(path))"
        case .unreadable(let message): VisibleText.message(message)
        case .malformed(let path):
            "\(shown(path)): this is no secret of a webhook\n   = it is whsec_ and 24 to 64 bytes in Base64: "
                + "echo whsec_$(openssl rand -base64 32)"
        }
    }

    private func shown(_ path: String) -> String { VisibleText.line(path.cut(to: 500)) }
}
