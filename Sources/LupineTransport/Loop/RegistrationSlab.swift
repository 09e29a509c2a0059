// SPDX-License-Identifier: MIT

/// The channels that are registered with a loop, and their descriptors, in slots of an array. Epoll stores the index of the slot.
///
/// Slots are reused. A registration contains the generation of its slot, so that a late event of a registration that has ended
/// finds no channel. Owned by `LoopCore`.
struct RegistrationSlab {
    private struct Slot {
        /// The number of registrations that have ended in this slot.
        var generation: UInt32 = 0
        var descriptor: Int32 = -1
        /// Nil if the slot is free.
        var channel: (any LoopChannel)?
    }

    private var slots: [Slot] = []
    private var freeSlots: [UInt32] = []

    /// The number of registered channels.
    private(set) var count = 0

    /// All registrations, in no particular order.
    var all: [Registration] {
        slots.indices.filter { slots[$0].channel != nil }
            .map { Registration(slot: UInt32($0), generation: slots[$0].generation) }
    }

    /// Adds a channel, in a free slot if there is one.
    mutating func add(_ descriptor: Int32, _ channel: any LoopChannel) -> Registration {
        count += 1
        guard let freeSlot = freeSlots.popLast() else {
            slots.append(Slot(descriptor: descriptor, channel: channel))
            return Registration(slot: UInt32(slots.count - 1), generation: 0)
        }
        slots[Int(freeSlot)].descriptor = descriptor
        slots[Int(freeSlot)].channel = channel
        return Registration(slot: freeSlot, generation: slots[Int(freeSlot)].generation)
    }

    /// Returns the channel of a registration; nil if it has ended.
    func channel(for registration: Registration) -> (any LoopChannel)? {
        let slot = Int(registration.slot)
        guard slot < slots.count, slots[slot].generation == registration.generation else { return nil }
        return slots[slot].channel
    }

    /// Gives the registration to another channel; returns false if it has ended.
    mutating func replaceChannel(of registration: Registration, with channel: any LoopChannel) -> Bool {
        let slot = Int(registration.slot)
        guard slot < slots.count, slots[slot].generation == registration.generation,
            slots[slot].channel != nil
        else { return false }
        slots[slot].channel = channel
        return true
    }

    /// Ends a registration and returns its channel; nil if it had ended before. The caller releases the channel only after this
    /// method has returned, because the channel's `deinit` may use the slab again.
    mutating func remove(_ registration: Registration) -> (descriptor: Int32, channel: any LoopChannel)? {
        let slot = Int(registration.slot)
        guard slot < slots.count, slots[slot].generation == registration.generation,
            let channel = slots[slot].channel.take()
        else { return nil }
        slots[slot].generation &+= 1
        freeSlots.append(registration.slot)
        count -= 1
        return (slots[slot].descriptor, channel)
    }
}
