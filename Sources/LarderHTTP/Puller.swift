/// Pulls a stream's chunks for readers of any task, one reader at a time.
package actor Puller {
  private var iterator: HTTPBodyStream.Iterator?

  /// Creates a reader of a stream, which has no other reader.
  package init(_ stream: HTTPBodyStream) { iterator = stream.makeAsyncIterator() }

  /// The next chunk; nil at the end.
  package func next() async throws -> [UInt8]? {
    var own = iterator.take()
    defer { iterator = own }
    return try await own?.next()
  }
}
