public import LarderCore

/// What a fetch throws where the server says that the value is gone for good, as by a status of 404 or 410.
public struct ObjectGone: Error, Sendable, Hashable {
  /// The statement itself.
  public init() {}
}

/// What ``ObjectStore/stream(_:forKey:labels:lifetime:from:)`` tells.
public enum StreamedObject<Value: Sendable>: Sendable {
  /// The value that is here; the server's comes next.
  case cached(Value)
  /// The server's value; the last, unless the next step throws why it could not be put.
  case fetched(Value)
  /// The server's value did not come, for this reason: the cached one stands; the last.
  case fetchFailed(any Error)
}

/// The value that a store has, then the server's.
///
/// | here | from the server | the sequence |
/// | --- | --- | --- |
/// | a value | a value | `cached`, `fetched`, end |
/// | a value | an error | `cached`, `fetchFailed` with the error, end |
/// | none | a value | `fetched`, end |
/// | none | an error | throws `absent` with the error |
/// | a value or none | ``ObjectGone`` | `cached` where there is one; the value is deleted; throws `gone` |
///
/// Callers of one key and type at the same time share one fetch, begun by the first of them; it is cancelled when the
/// last one lets its iterator go. A value that came is put before it is told, where nobody has put or deleted the one here
/// since the fetch began: what is newer than the question stays, also where the server says that the value is gone, and a
/// value that was put meanwhile and deleted stays deleted. Where it cannot be put, it is told all the same, and the next step throws why. A value here that does not decode counts as none, and is
/// the error thrown where none comes from the server. Each iterator asks anew; a cancelled task's ends.
public struct ObjectStream<Value: Codable & Sendable>: AsyncSequence, Sendable {
  /// One step.
  public typealias Element = StreamedObject<Value>
  /// Why there is no value.
  public typealias Failure = ObjectStoreError

  let store: ObjectStore
  let key: String
  let fetch: @Sendable (ObjectKey, @escaping @Sendable () -> Bool) async -> SharedFetch<Value>.Outcome

  /// Begins; nothing happens before the first step.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// Takes one step after the other.
  public struct Iterator: AsyncIteratorProtocol {
    private enum Phase {
      case first
      /// With what the store had: a value, or what is wrong with it.
      case fetching(FetchCaller<Value>, hasValue: Bool, ObjectStoreError?)
      case failing(ObjectStoreError)
      case done
    }

    private let stream: ObjectStream
    private var phase = Phase.first

    init(stream: ObjectStream) { self.stream = stream }

    /// The next step; nil after the last, and where the task is cancelled.
    public mutating func next() async throws(ObjectStoreError) -> StreamedObject<Value>? {
      if case .first = phase {
        phase = .done
        if let cached = try begin() { return .cached(cached) }
      }
      switch phase {
      case .first, .done: return nil
      case .failing(let error):
        phase = .done
        throw error
      case .fetching(let caller, let hasValue, let readError):
        phase = .done
        guard let outcome = await caller.outcome() else { return nil }
        return try end(outcome, hasValue: hasValue, readError)
      }
    }

    /// The same from within an actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ObjectStoreError) -> StreamedObject<Value>? {
      try await next()
    }

    /// Reads the value that is here and joins the fetch.
    private mutating func begin() throws(ObjectStoreError) -> Value? {
      let key = try ObjectKey(stream.key, for: .stream)
      var (cached, readError): (Value?, ObjectStoreError?) = (nil, nil)
      do throws(ObjectStoreError) { cached = try stream.store.read(Value.self, key, .stream) } catch {
        switch error.reason {
        case .typeMismatch, .undecodable, .damaged: readError = error
        default: throw error
        }
      }
      let caller = stream.store.fetches.join(key, Value.self) { [fetch = stream.fetch] isWanted in
        await fetch(key, isWanted)
      }
      phase = .fetching(caller, hasValue: cached != nil, readError)
      return cached
    }

    private mutating func end(
      _ outcome: SharedFetch<Value>.Outcome, hasValue: Bool, _ readError: ObjectStoreError?
    ) throws(ObjectStoreError) -> StreamedObject<Value>? {
      switch outcome {
      case .value(let value, let error):
        if let error { phase = .failing(error) }
        return .fetched(value)
      case .gone(let error): throw error ?? ObjectStoreError(.stream, key: stream.key, .gone)
      case .failed(let error):
        if hasValue { return .fetchFailed(error) }
        throw readError ?? ObjectStoreError(.stream, key: stream.key, .absent(error))
      }
    }
  }
}

extension ObjectStore {
  /// The value under a key, then the one that `fetch` brings, which is put in its place.
  ///
  /// - Parameters:
  ///   - type: what the value is.
  ///   - key: where it lies.
  ///   - labels: of the value that is fetched.
  ///   - lifetime: how long the value that is fetched stays; nil keeps it.
  ///   - fetch: asks the server; throws ``ObjectGone`` where that says that the value is gone, which deletes it here.
  /// - Returns: the steps, see ``ObjectStream``; they throw `invalidKey`, `invalidLabel`, `absent`, `gone`, `closed`,
  ///   `storage`, and why the value here does not decode.
  public func stream<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, forKey key: String, labels: some Collection<String> & Sendable = [String](),
    lifetime: Duration? = nil, from fetch: @escaping @Sendable () async throws -> Value
  ) -> ObjectStream<Value> {
    ObjectStream(store: self, key: key) { checked, isWanted in
      do {
        let watched = try WatchedKey(checked, in: self)
        do {
          let value = try await fetch()
          do throws(ObjectStoreError) {
            let new = try self.encode(value, key, labels, self.expiry(lifetime), .stream)
            try await self.change(.stream, key: key, weight: new.encoded.bytes.count) { table in
              if isWanted(), try watched.isUntouched(table) { try table.put(new) }
            }
            return .value(value, nil)
          } catch { return .value(value, error.naming(key, .stream)) }
        } catch is ObjectGone {
          do throws(ObjectStoreError) {
            try await self.change(.stream, key: key, weight: 0) { table in
              if isWanted(), try watched.isUntouched(table) { _ = try table.delete(checked) }
            }
            return .gone(nil)
          } catch { return .gone(error.naming(key, .stream)) }
        }
      } catch { return .failed(error) }
    }
  }
}

extension ObjectGone: LarderError {
  /// The stable number: 1.
  public var errorIdentity: ErrorIdentity { ErrorIdentity(1, "ObjectGone", .notFound) }

  /// What the server says.
  public var explanation: ErrorExplanation {
    ErrorExplanation("The server says that the value is gone.", cure: "Ask for another.")
  }
}
