/// The outcome of an uncertain request, decided by one table. This type does no I/O.
///
/// A request is *uncertain* from the time it is sent until its outcome is known: its response was lost, or is
/// inconclusive. A look-up of the current state at the service gives an ``Evidence``, and the table gives the outcome.
/// A look-up that cannot decide makes the request *unclear*: it goes to the error archive and is never sent again
/// automatically.
///
/// | evidence | creation | creation, service's key | change | deletion | call |
/// | --- | --- | --- | --- | --- | --- |
/// | `inconclusive` | unclear | unclear | unclear | not done under an ETag, else unclear | unclear |
/// | `absent` | not done | not done | conflict* | done | unclear |
/// | `gone` | conflict* | unclear | conflict* | done | unclear |
/// | `asSent` | done | done | done | done | unclear |
/// | `sameVersion` | unclear | unclear | not done | not done | unclear |
/// | `asBefore` | unclear | unclear | conflict under an ETag, else not done | the same | unclear |
/// | `different` | conflict* | unclear | conflict* | conflict* | unclear |
/// | `ambiguous` | unclear | unclear | unclear | unclear | unclear |
///
/// A conflict with an asterisk may have taken effect before another client changed the entity. A policy does not apply it
/// again automatically; only a person or a resolver of the application may.
///
/// What cannot be detected: an entity that was created and deleted by another client before any look-up or download saw it
/// (`absent`); a value that another client has set back to what it was before (`asBefore`); an entity that was deleted and
/// created again with the same values; a link that was added or removed, and then removed or added again by another client;
/// a link that another client has changed alone, if neither an ETag nor a property of its source shows this and its earlier
/// state is not in the store; a value that another client has set in a property that the creation left out (it may be the
/// service's default).
enum UncertainOutcome: Hashable, Sendable {
  /// The service has executed it.
  case done
  /// The service has not executed it: it is sent again.
  case notDone
  /// The entity has another version than the request was based on. The conflict policy decides.
  case conflict(mayHaveTakenEffect: Bool)
  /// The outcome cannot be determined. The request goes to the error archive.
  case unclear

  /// The kind of a request.
  enum Kind: Hashable, Sendable, CaseIterable {
    /// Creates an entity with the caller's key.
    case creation
    /// Creates an entity whose key the service assigns.
    case creationWithoutKey
    /// Changes properties, links, or the bytes of a stream.
    case change
    /// Deletes an entity.
    case deletion
    /// Cannot be looked up: an action, or a media entity created from bytes.
    case call
  }

  /// The result of a look-up.
  enum Evidence: Hashable, Sendable, CaseIterable {
    /// The service rejects the look-up.
    case inconclusive
    /// The entity does not exist, and the store never saw it there.
    case absent
    /// The entity existed and no longer does.
    case gone
    /// The entity is as the request leaves it.
    case asSent
    /// The ETag is the one that the request was sent with.
    case sameVersion
    /// The properties or links that the request changes still have their earlier values.
    case asBefore
    /// The properties or links that the request changes have neither the values that were sent nor the earlier ones.
    case different
    /// It may be the effect of the request: an entity agrees partially, several agree, or the earlier values are not
    /// known.
    case ambiguous
  }

  /// The decision table.
  ///
  /// - Parameter isConditional: whether the request was sent with an ETag, and the service returns one for the entity.
  static func of(_ kind: Kind, _ evidence: Evidence, isConditional: Bool) -> UncertainOutcome {
    switch (kind, evidence) {
    case (.call, _), (_, .ambiguous): .unclear
    case (_, .asSent): .done
    // With its ETag, a deletion can be repeated safely: it fails if the entity has another version.
    case (.deletion, .inconclusive): isConditional ? .notDone : .unclear
    case (_, .inconclusive): .unclear
    case (.deletion, .absent), (.deletion, .gone): .done
    case (.creation, .absent), (.creationWithoutKey, .absent): .notDone
    case (.change, .absent), (.change, .gone), (.creation, .gone): .conflict(mayHaveTakenEffect: true)
    case (.change, .sameVersion), (.deletion, .sameVersion): .notDone
    case (.change, .asBefore), (.deletion, .asBefore):
      isConditional ? .conflict(mayHaveTakenEffect: false) : .notDone
    case (.creation, .different), (.change, .different), (.deletion, .different):
      .conflict(mayHaveTakenEffect: true)
    case (.creation, .sameVersion), (.creation, .asBefore), (.creationWithoutKey, _): .unclear
    }
  }
}

extension UncertainOutcome.Evidence {
  /// The evidence from an entity that exists.
  ///
  /// - Parameters:
  ///   - etag: the entity's current ETag.
  ///   - condition: the ETag that the request was sent with; nil for none and for `*`.
  ///   - isAsSent: whether it has all the values that were sent.
  ///   - isAsBefore: whether the properties or links that the request changes have their earlier values; nil if these
  ///     are not known.
  init(etag: String?, condition: String?, isAsSent: Bool, isAsBefore: Bool?) {
    // The values are compared first, because some services keep the same ETag for a while.
    if isAsSent {
      self = .asSent
    } else if let condition, let etag, etag == condition {
      self = .sameVersion
    } else if let isAsBefore {
      self = isAsBefore ? .asBefore : .different
    } else {
      self = condition != nil && etag != nil ? .different : .ambiguous
    }
  }
}
