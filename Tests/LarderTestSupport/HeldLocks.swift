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
    // The list comes in pieces, and where others lock and unlock between them a piece may lack a line. So it is read several times.
    var lines: Set<Substring> = []
    for _ in 0..<5 {
      let locks = try whole("/proc/locks")
      // Without the number in front, which is the place in the list.
      for line in locks.split(separator: "\n") { lines.insert(line.drop { $0 != " " }) }
    }
    return lines.compactMap { line in
      // Kind, way, mode, process, device and file, range; an arrow precedes the kind of a process that only waits.
      let parts = line.split(separator: " ")
      guard parts.count >= 5, let number = parts[4].split(separator: ":").last, let name = files[String(number)] else {
        return nil
      }
      return "\(parts[0]) \(name)"
    }
  }

  /// All of a file of the kernel's, which has no length that would say how much there is to read.
  private func whole(_ path: String) throws -> String {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw POSIXError(.ENOENT) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }
#endif
