import Foundation
import JobModel
import Runs
import Scheduling
import Testing

@Suite struct FrameMapTests {
    /// Some inputs of a job, of which some have several pages.
    private func frames(_ random: inout some RandomNumberGenerator) -> [FrameID] {
        var frames: [FrameID] = []
        for number in 1...Int.random(in: 1...60, using: &random) {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: break
            case 1:
                let first = Int.random(in: 0...2, using: &random)
                frames += (first...first + Int.random(in: 0...4, using: &random)).map { FrameID(number, page: $0) }
            case 2: frames += [FrameID(number, page: 1), FrameID(number, page: 4)]
            default: frames.append(FrameID(number))
            }
        }
        return frames
    }

    @Test func `a map keeps the state of every frame, and its file has the same`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let frames = frames(&random)
            var (map, truth) = (FrameMap(frames.shuffled()), [FrameID: FrameMap.Cell]())
            for frame in frames { truth[frame] = .waiting }
            for _ in 0..<frames.count {
                guard let frame = frames.randomElement(), let cell = FrameMap.Cell.allCases.randomElement() else {
                    break
                }
                let changed = map.set(frame, cell)
                #expect((changed == nil) == (truth[frame] == cell))
                #expect(changed == nil || changed == frames.firstIndex(of: frame))
                truth[frame] = cell
            }
            #expect(map.count == frames.count)
            #expect(map.cells.map(\.frame) == frames)
            #expect(map.cells.allSatisfy { truth[$0.frame] == $0.cell && map[$0.frame] == $0.cell })
            #expect(map[FrameID(61)] == nil && map.set(FrameID(61), .failed) == nil)
            let numbers = Set(frames.map(\.number))
            #expect((0...61).allSatisfy { map.has(inputNumber: $0) == numbers.contains($0) })
            #expect(FrameMap(file: map.file) == map)
            #expect(FrameMap(text: map.text) == map)
        }
    }

    @Test func `a file is one line and a letter for each frame`() {
        var map = FrameMap([FrameID(1), FrameID(2), FrameID(3), FrameID(5), FrameID(5, page: 1), FrameID(6)])
        _ = map.set(FrameID(2), .running)
        _ = map.set(FrameID(5, page: 1), .failed)
        #expect(
            String(decoding: map.file, as: UTF8.self) == """
                {"version":1,"frames":[[1,3],[5,0,2],[6,1]]}
                .>..f.
                """)
    }

    @Test func `each way to end has a letter of its own`() {
        let cells = FrameResult.Kind.allCases.map(FrameMap.Cell.init)
        #expect(Set(cells).count == cells.count)
        #expect(!cells.contains(.running))
        #expect(String(decoding: FrameMap.Cell.allCases.map(\.rawValue), as: UTF8.self) == ".>pskbfl")
    }

    @Test(arguments: [
        "", "\n", "....\n", #"{"version":2,"frames":[[1,1]]}"# + "\n.", #"{"version":1,"frames":[[1,2]]}"# + "\n.",
        #"{"version":1,"frames":[[1,1]]}"# + "\n..", #"{"version":1,"frames":[[1,1]]}"# + "\nx",
        #"{"version":1,"frames":[[1,0]]}"# + "\n", #"{"version":1,"frames":[[0,1]]}"# + "\n.",
        #"{"version":1,"frames":[[-1,1]]}"# + "\n.", #"{"version":1,"frames":[[1]]}"# + "\n.",
        #"{"version":1,"frames":[[2,1],[1,1]]}"# + "\n..", #"{"version":1,"frames":[[1,2],[2,1]]}"# + "\n...",
        #"{"version":1,"frames":[[1,999999999999]]}"# + "\n.",
        #"{"version":1,"frames":[[1,99999999999999999999]]}"# + "\n.",
    ])
    func `a damaged file is no map`(text: String) {
        #expect(FrameMap(file: Array(text.utf8)) == nil)
    }

    @Test(arguments: [
        "", "\n", #"{"version":1,"frames":[[1,2]]}"#, #"{"version":1,"frames":[[1,2]]}"# + "\n1p",
        #"{"version":1,"frames":[[1,2]]}"# + "\n2", #"{"version":1,"frames":[[1,2]]}"# + "\npp",
        #"{"version":1,"frames":[[1,2]]}"# + "\n0p2p", #"{"version":1,"frames":[[1,2]]}"# + "\n2x",
        #"{"version":1,"frames":[[1,2]]}"# + "\n99999999999999999999p", #"{"version":1,"frames":[[1,2]]}"# + "\n1p\n1p",
    ])
    func `a damaged text is no map`(text: String) {
        #expect(FrameMap(text: text) == nil)
    }

    @Test func `a hundred thousand inputs take one entry, and are found at once`() {
        let map = FrameMap((1...100_000).map { FrameID($0) })
        #expect(map.text == #"{"version":1,"frames":[[1,100000]]}"# + "\n100000.")
        #expect(map.header == Array(#"{"version":1,"frames":[[1,100000]]}"#.utf8) + [10])
        #expect(map.offset(of: FrameID(77_777)) == 77_776)
    }
}
