// Makes the pictures that the project draws itself, and puts two pictures side by side for the README.
//
//     make-pictures eclipse WIDTH HEIGHT OUT.jpg
//     make-pictures discs SIDE OUT.png
//     make-pictures halves BEFORE AFTER OUT.jpg

import Catalogs
import ExamplePictures
import Foundation

do {
    let arguments = CommandLine.arguments.dropFirst().map { $0 }
    switch (arguments.first, arguments.count) {
    case ("eclipse", 4):
        guard let width = Int(arguments[1]), let height = Int(arguments[2]) else { exit(64) }
        try PictureFiles.write(
            Scene.eclipse(width: width, height: height), to: arguments[3], options: ["quality": .integer(85)])
    case ("discs", 3):
        guard let side = Int(arguments[1]) else { exit(64) }
        try PictureFiles.write(Scene.discs(side: side), to: arguments[2])
    case ("halves", 4):
        let (before, after) = (try PictureFiles.read(arguments[1]), try PictureFiles.read(arguments[2]))
        try PictureFiles.write(
            PictureFiles.halves(before, after), to: arguments[3], options: ["quality": .integer(85)])
    default:
        exit(64)
    }
} catch {
    FileHandle.standardError.write(Data("make-pictures: \(error)\n".utf8))
    exit(1)
}
