import ImageFiles
import Testing
import JobModel
import Foundation
@Suite struct Scratch {
    @Test func show() throws {
        let w = try Workspace()
        for f in ["jpeg","png","webp","tiff"] {
            try w.save(Pictures.busy(width: 200, height: 304), as: f, to: "whole")
            let b = try w.bytes("whole")
            for p in [0.5, 5, 50, 95, 99.5, 99.9] {
                var part = Array(b.prefix(Int(Double(b.count)*p/100)))
                _ = try w.write(part, to: "part")
                do { _ = try w.load("part"); print(f, p, "OK") } catch { print(f, p, "\(error)".suffix(120)) }
                if f == "jpeg" { part += [0xff,0xd9]
                _ = try w.write(part, to: "part")
                do { _ = try w.load("part"); print(f, p, "EOI OK") } catch { print(f, p, "EOI", "\(error)".suffix(120)) }
                }
            }
            for i in 0..<12 {
                var d = b; d[b.count * (i+1) / 13] ^= 0x41
                _ = try w.write(d, to: "part")
                do { _ = try w.load("part"); print(f, i, "flip OK") } catch { print(f, i, "flip", "\(error)".suffix(120)) }
            }
        }
    }
}
