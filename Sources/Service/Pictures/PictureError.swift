import JobModel

/// Why there is no picture.
package enum PictureError: Error, Hashable, Sendable {
    /// There is none: the frame is not rendered yet, or the file is gone, changed, or out of the caller's reach.
    case missing(String)
    /// The file cannot be decoded. The message is the worker's.
    case broken(String)
    /// A value of the request does not suit the picture.
    case unsuitable(String)
    /// A large picture is being read for the first time. Later answers come at once.
    ///
    /// - Parameter percent: how much of it is done. Nil while it waits for others.
    case preparing(percent: Int?)
    /// So many pictures wait already that this one is not accepted.
    case full
    /// No worker can be started, or the disk cannot be used.
    case unavailable(String)
    /// Nobody waits for the picture any more.
    case cancelled
    /// The service ends.
    case stopping

    /// A sentence, and a second line that begins with `   = ` and says what to do, where something can be done.
    package var message: String {
        switch self {
        case .missing(let message), .broken(let message), .unsuitable(let message), .unavailable(let message): message
        case .preparing(let percent?):
            "making this picture ready to look around: \(percent) %\n   = ask again in a second"
        case .preparing(nil):
            "this picture is made ready to look around after another one\n   = ask again in some seconds"
        case .full: "too many pictures are being made\n   = ask again in some seconds"
        case .cancelled: "nobody waits for the picture any more"
        case .stopping: "the service is stopping\n   = ask again later"
        }
    }
}
