import Foundation
import Geometry
import JobModel
import Planning
import Pictures
import Scheduling
import TestSupport
import Testing

extension PictureSource {
    static func make(
        _ path: String = "/srv/a.png", bytes: [UInt8]? = nil, page: Int = 0, stamp: FileStamp = .make(),
        content: Content = .stamp, roots: [String]? = nil
    ) -> PictureSource {
        PictureSource(path: path, bytes: bytes, page: page, stamp: stamp, content: content, roots: roots)
    }

    /// A source of a file that exists.
    static func file(_ path: String, roots: [String]? = nil) throws -> PictureSource {
        PictureSource(path: path, stamp: try #require(FileStamp(of: path)), content: .stamp, roots: roots)
    }
}

extension FileStamp {
    static func make(inode: UInt64 = 1, size: Int = 100, changed: Int64 = 7) -> FileStamp {
        FileStamp(device: 1, inode: inode, size: size, modified: 5, changed: changed)
    }
}

extension PictureOrder {
    static func make(_ path: String = "/srv/a.png", _ kind: Kind = .digest, roots: [String]? = nil) -> PictureOrder {
        PictureOrder(.make(path, roots: roots), kind)
    }
}

extension PictureOwner {
    static let someone = PictureOwner("someone")
}

func client(_ number: Int) -> PictureQueue.ClientID { PictureQueue.ClientID(number: number) }

func seconds(_ number: Int) -> Timestamp { Timestamp(.seconds(number)) }

func error(_ body: () throws(PictureError) -> Void) -> PictureError? {
    do throws(PictureError) {
        try body()
        return nil
    } catch {
        return error
    }
}
