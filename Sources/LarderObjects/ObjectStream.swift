/// A step of ``ObjectStore/stream(_:forKey:labels:ttl:from:)``.
public enum StreamedObject<Value: Sendable>: Sendable {
  /// The stored value; the server's value follows.
  case cached(Value)
  /// The server's value. This is the last step, unless the next step throws because the value could not be put.
  case fetched(Value)
  /// The fetch failed with this error, and the cached value remains. This is the last step.
  case fetchFailed(any Error)
}

/// The value that a store has, then the server's.
///
/// | stored | from the server | the sequence |
/// | --- | --- | --- |
/// | a value | a value | `cached`, `fetched`, end |
/// | a value | an error | `cached`, `fetchFailed` with the error, end |
/// | none | a value | `fetched`, end |
/// | none | an error | throws `absent` with the error |
/// | a value or none | ``ObjectStoreError/gone`` | `cached` if there is one; the value is deleted; throws `gone` |
///
/// Concurrent callers with the same key and type share one fetch, which the first of them begins. It is cancelled when
/// the last caller releases its iterator. A fetched value is put before it is delivered, unless the stored value was
/// put or deleted after the fetch began. So a newer value is kept, even if the server reports that the value is gone,
/// and a value that was put and deleted in the meantime stays deleted. If the fetched value cannot be put, it is
/// delivered all the same, and the next step throws the reason. A stored value that does not decode counts as none; its
/// error is thrown if the server delivers no value either. Each iterator starts a new request. The iterator of a
/// cancelled task ends.
public struct ObjectStream<Value: Codable & Sendable>: AsyncSequence, Sendable {
  /// The element type: one step.
  public typealias Element = StreamedObject<Value>
  /// The error type: why there is no value.
  public typealias Failure = ObjectStoreError

  let store: ObjectStore
  let key: String
  let fetch: @Sendable (ObjectKey, @escaping @Sendable () -> Bool) async -> ObjectFetch<Value>.Outcome

  /// Creates an iterator. Nothing happens before the first step.
  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  /// Delivers the steps one at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private enum Phase {
      case first
      /// Waiting for the fetch; the store had a value, or this error reading it.
      case fetching(FetchCaller<Value>, hasValue: Bool, ObjectStoreError?)
      case failing(ObjectStoreError)
      case done
    }

    private let stream: ObjectStream
    private var phase = Phase.first

    init(stream: ObjectStream) { self.stream = stream }

    /// The next step. Nil after the last step, and if the task is cancelled.
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

    /// The next step, for a loop inside an actor. Nil after the last step, and if the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ObjectStoreError) -> StreamedObject<Value>? {
      try await next()
    }

    /// Reads the stored value and joins the fetch.
    private mutating func begin() throws(ObjectStoreError) -> Value? {
      let key = try ObjectKey(stream.key, for: .stream)
      var (cached, readError): (Value?, ObjectStoreError?) = (nil, nil)
      do throws(ObjectStoreError) { cached = try stream.store.read(Value.self, key, .stream) } catch {
        switch error.category {
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
      _ outcome: ObjectFetch<Value>.Outcome, hasValue: Bool, _ readError: ObjectStoreError?
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
  /// Delivers the value under a key, then the one that `fetch` returns, which replaces it in the store.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - key: the key of the value.
  ///   - labels: the labels of the fetched value.
  ///   - ttl: how long the fetched value is valid; nil if it does not expire.
  ///   - fetch: requests the value from the server. Throws ``ObjectStoreError/gone`` if the server reports that the value is gone,
  ///     which deletes the stored value.
  /// - Returns: the steps, see ``ObjectStream``; they throw `invalidKey`, `invalidLabel`, `absent`, `gone`, `closed`,
  ///   `storage`, and the error if the stored value does not decode.
  public func stream<Value: Codable & Sendable>(
    _ type: Value.Type = Value.self, forKey key: String, labels: some Collection<String> & Sendable = [String](),
    ttl: Duration? = nil, from fetch: @escaping @Sendable () async throws -> Value
  ) -> ObjectStream<Value> {
    ObjectStream(store: self, key: key) { checked, isWanted in
      do {
        let watched = try WatchedKey(checked, in: self)
        do {
          let value = try await fetch()
          do throws(ObjectStoreError) {
            let new = try self.encode(
              value, forKey: key, labels: labels, expires: self.expiry(ttl), for: .stream)
            try await self.change(.stream, key: key, weight: new.encoded.bytes.count) { table in
              if isWanted(), try watched.isUnchanged(table) { try table.put(new) }
            }
            return .value(value, nil)
          } catch { return .value(value, error.naming(key, .stream)) }
        } catch let error as ObjectStoreError where error.isGoneFromServer {
          do throws(ObjectStoreError) {
            try await self.change(.stream, key: key, weight: 0) { table in
              if isWanted(), try watched.isUnchanged(table) { _ = try table.delete(checked) }
            }
            return .gone(nil)
          } catch { return .gone(error.naming(key, .stream)) }
        }
      } catch { return .failed(error) }
    }
  }
}
