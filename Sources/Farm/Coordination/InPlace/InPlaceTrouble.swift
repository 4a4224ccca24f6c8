import Glibc
import SafeFiles

/// Why nothing is done with a picture.
struct InPlaceTrouble: Error {
    let outcome: InPlaceResult.Outcome
    /// What no other picture could be helped by either.
    let place: FileTrouble?

    init(outcome: InPlaceResult.Outcome) { (self.outcome, place) = (outcome, nil) }

    /// A folder that is read-only, or in which this user may not write, is a place that is not fit, as a full disk is.
    init(_ trouble: FileTrouble) {
        outcome =
            switch trouble.code {
            // A time that cannot be kept is the picture's own.
            case EOVERFLOW: .refused(reason: trouble.message)
            case OriginalStore.busyCode: .busy
            default: .unfit(message: trouble.message)
            }
        // A bad sector, or a server that lost a folder, says nothing of the other pictures.
        place = trouble.concernsStorage && ![EIO, ESTALE].contains(trouble.code) ? trouble : nil
    }

    static func refused(_ reason: String) -> InPlaceTrouble { InPlaceTrouble(outcome: .refused(reason: reason)) }

    static let changed = refused("changed meanwhile; left as it is")

    /// Does what may meet trouble with files.
    static func on<Result>(_ body: () throws(FileTrouble) -> Result) throws(InPlaceTrouble) -> Result {
        do throws(FileTrouble) {
            return try body()
        } catch {
            throw InPlaceTrouble(error)
        }
    }
}
