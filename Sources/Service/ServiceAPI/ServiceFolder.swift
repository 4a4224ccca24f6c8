import JobModel

/// The folder of a service, and the names in it. Only the service's user may enter it.
///
/// It is not inside of the state folder. Runs may write there, and tokens must be out of their reach.
package struct ServiceFolder: Hashable, Sendable {
    package let path: String

    /// - Parameter path: An absolute path.
    package init(_ path: String) { self.path = path }

    /// The folder beside a state folder: `~/.local/state/penumbra-service` for `~/.local/state/penumbra`. Services of two
    /// state folders have two folders.
    package init(besideStateFolder state: String) {
        let names = PathNames.all(in: state)
        self.init("/" + (names.isEmpty ? "penumbra-service" : names.joined(separator: "/") + "-service"))
    }

    /// Commands of this user and of root reach the service here.
    package var controlSocket: String { PathNames.joined(path, "control.sock") }
    /// A proxy reaches the service here, if the configuration asks for it.
    package var webSocket: String { PathNames.joined(path, "web.sock") }
    package var database: String { PathNames.joined(path, "service.sqlite") }
    /// Held while a service runs, so that there is only one.
    package var lock: String { PathNames.joined(path, "service.lock") }
    /// The ID of the service. Nobody else has it.
    package var identity: String { PathNames.joined(path, "service.id") }
    /// For each run, the lock that its process holds.
    package var locks: String { PathNames.joined(path, "runs") }
    /// Texts of manifests that came with requests.
    package var manifests: String { PathNames.joined(path, "manifests") }
    /// Files of previews that are being made.
    package var previews: String { PathNames.joined(path, "previews") }
    /// Pictures of frames that somebody has looked at.
    package var thumbnails: String { PathNames.joined(path, "thumbnails") }
    /// Outputs of runs' processes.
    package var logs: String { PathNames.joined(path, "logs") }
}

/// Paths of the API.
package enum APIPath {
    /// Everything below it keeps its meaning. Another version would have another path.
    package static let root = "/api/v1"

    /// A text as one part of a path, or as a value of a query: all bytes except letters, digits and `-._~` are escaped.
    package static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            if plain.contains(byte) { return String(UnicodeScalar(byte)) }
            let digits = String(byte, radix: 16, uppercase: true)
            return digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
        }.joined()
    }

    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)
}
