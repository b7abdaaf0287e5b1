#if os(Linux)
  import Foundation

  /// The locks that any process holds on the files below a folder: for each its kind (`FLOCK`, `POSIX`) and the file's path there.
  public func heldLocks(below folder: String) throws -> [String] {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    var files: [String: String] = [:]
    for name in names {
      let attributes = try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)
      if let number = attributes?[.systemFileNumber] as? Int { files[String(number)] = name }
    }
    let locks = try String(contentsOf: URL(filePath: "/proc/locks"), encoding: .utf8)
    return locks.split(separator: "\n").compactMap { line in
      // Number, kind, way, mode, process, device and file, range; an arrow stands before the kind of who only waits.
      let parts = line.split(separator: " ")
      guard parts.count >= 6, let number = parts[5].split(separator: ":").last, let name = files[String(number)] else {
        return nil
      }
      return "\(parts[1]) \(name)"
    }
  }
#endif
