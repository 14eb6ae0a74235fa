// After the start of the program no MPI call is used that may block. A rank that waits polls instead, so that
// it can stop at a time limit or when another rank ends the ring.
#include "kernels/ring/transport/mpi.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "kernels/ring/transport/mpi_library.hpp"

namespace hilbench {
namespace {

using Clock = std::chrono::steady_clock;
using Lock = std::unique_lock<std::mutex>;

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  mpi().error_string(status, text, &length);
  throw TransportError(fmt::format("{}: {}", call, text));
}

#define HILBENCH_MPI(call) check((call), #call)

}  // namespace

// What the rings of a program share.
struct MpiProgram::State {
  std::mutex mutex;  // for every call of MPI
  MPI_Comm comm = mpi().comm_null;
  int rank = 0, size = 0, local_rank = 0, first_on_host = 0;
  int rings = 0;
  bool failed = false;
  std::list<std::string> last_words;  // buffers of messages that may be under way until the program ends
};

namespace {

// The pause between two polls: none at first, later a sixteenth of the time waited so far, so that a waiting
// process leaves the processor to others.
class Patience {
 public:
  explicit Patience(double timeout_s)
      : begin_(Clock::now()),
        end_(begin_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s))) {
  }
  bool over() const { return Clock::now() >= end_; }
  void sleep() {
    if (++looks_ < 50)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(
          std::clamp<Clock::duration>((Clock::now() - begin_) / 16, kShortest, kLongest));
  }

 private:
  static constexpr std::chrono::microseconds kShortest{20}, kLongest{20000};
  Clock::time_point begin_, end_;
  int looks_ = 0;
};

// A message, or a part of one.
struct Part {
  MPI_Request request = mpi().request_null;
  int peer = 0, bytes = 0;
  bool receives = false;
};
using Exchange = std::vector<Part>;

class MpiTransport final : public Transport {
 public:
  // `number` distinguishes the ring from earlier ones.
  MpiTransport(int size, double timeout_s, std::size_t largest_bytes, int number,
               std::shared_ptr<MpiProgram::State> program)
      : Transport(program->rank, size, timeout_s),
        largest_bytes_(largest_bytes),
        first_tag_(number * kTags),
        program_(std::move(program)) {}

  ~MpiTransport() override {
    if (!exchanges_.empty()) abort(fmt::format("rank {} left while it exchanged data", rank()));
  }

  void barrier() override { gather(""); }

  std::vector<std::string> gather(const std::string& mine) override {
    std::vector<Value> values(size());
    Exchange sends;
    for_a_while(
        [&] {
          if (sends.empty())
            for (int peer = 0; peer < size(); ++peer)
              sends.push_back(
                  send({peer, const_cast<char*>(mine.data()), mine.size()}, 0, mine.size(), kValue));
          for (int peer = 0; peer < size(); ++peer) take(values[peer], peer);
          return std::all_of(values.begin(), values.end(),
                             [](const Value& value) { return value.complete; }) &&
                 complete(sends);
        },
        [&] {
          std::vector<int> missing;
          for (int peer = 0; peer < size(); ++peer)
            if (!values[peer].complete) missing.push_back(peer);
          return fmt::format("rank {} to come", fmt::join(missing, ", "));
        });
    std::vector<std::string> texts;
    for (Value& value : values) texts.push_back(std::move(*value.text));
    return texts;
  }

  void settle() override {}  // no message of this transport sets a flag

  void abort(const std::string& why) noexcept override {
    const Lock lock(program_->mutex);
    end(why);
  }

  std::string failure() override {
    const Lock lock(program_->mutex);
    listen();
    return failure_.value_or("");
  }

 private:
  enum Tag { kData, kValue, kEnd, kTags };

  // A value of gather() that is being received.
  struct Value {
    std::optional<std::string> text;
    Exchange part;
    bool complete = false;
  };

  void start(std::span<const Message> sends, std::span<const Message> receives, After, Mover) override {
    const Lock lock(program_->mutex);
    raise_if_ended();
    Exchange& exchange = exchanges_.emplace_back();
    try {
      // Receives first, so that what arrives needs no buffer inside MPI.
      for (const Message& message : receives) in_parts(message, exchange, &MpiTransport::receive);
      for (const Message& message : sends) in_parts(message, exchange, &MpiTransport::send);
    } catch (const TransportError& error) {
      end(error.what());
      throw;
    }
  }

  void finish() override {
    for_a_while([&] { return complete(exchanges_.front()); },
                [&] {
                  const Exchange& exchange = exchanges_.front();
                  const Part& part = *std::find_if(exchange.begin(), exchange.end(), [](const Part& p) {
                    return p.request != mpi().request_null;
                  });
                  return part.receives ? fmt::format("{} bytes from rank {}", part.bytes, part.peer)
                                       : fmt::format("rank {} to receive {} bytes", part.peer, part.bytes);
                });
    exchanges_.pop_front();
  }

  // Polls `done`, with the lock held, until it returns true. `awaited` names what is missing.
  template <class Done, class Awaited>
  void for_a_while(Done done, Awaited awaited) {
    Patience patience(timeout_s());
    for (;; patience.sleep()) {
      const Lock lock(program_->mutex);
      raise_if_ended();
      try {
        if (done()) return;
        if (patience.over())
          throw TransportError(fmt::format("rank {} waited {} s for {}", rank(), timeout_s(), awaited()));
      } catch (const TransportError& error) {
        end(error.what());
        throw;
      }
    }
  }

  void in_parts(const Message& message, Exchange& exchange,
                Part (MpiTransport::*post_part)(const Message&, std::size_t, std::size_t, int)) {
    std::size_t begin = 0;
    do {
      const std::size_t bytes = std::min(largest_bytes_, message.bytes - begin);
      exchange.push_back((this->*post_part)(message, begin, bytes, kData));
      begin += bytes;
    } while (begin < message.bytes);
  }

  Part send(const Message& message, std::size_t begin, std::size_t bytes, int tag) {
    Part part{mpi().request_null, message.peer, static_cast<int>(bytes), false};
    HILBENCH_MPI(mpi().isend(static_cast<const char*>(message.data) + begin, part.bytes, mpi().byte,
                             part.peer, first_tag_ + tag, program_->comm, &part.request));
    return part;
  }

  Part receive(const Message& message, std::size_t begin, std::size_t bytes, int tag) {
    Part part{mpi().request_null, message.peer, static_cast<int>(bytes), true};
    HILBENCH_MPI(mpi().irecv(static_cast<char*>(message.data) + begin, part.bytes, mpi().byte, part.peer,
                             first_tag_ + tag, program_->comm, &part.request));
    return part;
  }

  // True if all parts are complete; throws TransportError if one cannot be, or had another size.
  bool complete(Exchange& exchange) const {
    bool all = true;
    for (Part& part : exchange) {
      if (part.request == mpi().request_null) continue;
      int done = 0, bytes = 0;
      MPI_Status status;
      if (const int code = mpi().test(&part.request, &done, &status); code == MPI_ERR_TRUNCATE)
        throw TransportError(fmt::format("rank {} expects {} bytes from rank {}, which sends more", rank(),
                                         part.bytes, part.peer));
      else
        check(code, "MPI_Test");
      all = all && done != 0;
      if (done == 0 || !part.receives) continue;
      HILBENCH_MPI(mpi().get_count(&status, mpi().byte, &bytes));
      if (bytes != part.bytes)
        throw TransportError(fmt::format("rank {} sends {} bytes to rank {}, which expects {}", part.peer,
                                         bytes, rank(), part.bytes));
    }
    return all;
  }

  // Polls once for the value that `peer` sends.
  void take(Value& value, int peer) {
    if (value.complete) return;
    if (!value.text) {
      if (!(value.text = next_text(peer, kValue))) return;
      value.part.push_back(
          receive({peer, value.text->data(), value.text->size()}, 0, value.text->size(), kValue));
    }
    value.complete = complete(value.part);
  }

  // A buffer for the next text from `peer`, if there is one.
  std::optional<std::string> next_text(int peer, Tag tag) const {
    int found = 0, bytes = 0;
    MPI_Status status;
    HILBENCH_MPI(mpi().iprobe(peer, first_tag_ + tag, program_->comm, &found, &status));
    if (found == 0) return std::nullopt;
    HILBENCH_MPI(mpi().get_count(&status, mpi().byte, &bytes));
    return std::string(static_cast<std::size_t>(bytes), '\0');
  }

  // Checks whether another rank ended the ring.
  void listen() {
    if (failure_) return;
    int found = 0;
    MPI_Status status;
    HILBENCH_MPI(mpi().iprobe(MPI_ANY_SOURCE, first_tag_ + kEnd, program_->comm, &found, &status));
    if (found == 0) return;
    int bytes = 0;
    HILBENCH_MPI(mpi().get_count(&status, mpi().byte, &bytes));
    std::string why(static_cast<std::size_t>(bytes), '\0');
    HILBENCH_MPI(mpi().recv(why.data(), bytes, mpi().byte, status.MPI_SOURCE, status.MPI_TAG, program_->comm,
                            MPI_STATUS_IGNORE));
    fail(why);
  }

  void fail(const std::string& why) {
    failure_ = why;
    program_->failed = true;
    exchanges_.clear();
  }

  // The first rank to end the ring tells the others. A short text is sent even if nobody receives it.
  void end(const std::string& why) noexcept {
    if (failure_) return;
    fail(why);
    const std::string& text = program_->last_words.emplace_back(why.substr(0, 1000));
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      MPI_Request request;
      if (mpi().isend(text.data(), static_cast<int>(text.size()), mpi().byte, peer, first_tag_ + kEnd,
                      program_->comm, &request) == MPI_SUCCESS)
        mpi().request_free(&request);
    }
  }

  void raise_if_ended() {
    listen();
    if (failure_) throw TransportError(*failure_);
  }

  const std::size_t largest_bytes_;
  const int first_tag_;
  const std::shared_ptr<MpiProgram::State> program_;
  std::deque<Exchange> exchanges_;  // posted and not waited for
  std::optional<std::string> failure_;
};

}  // namespace

std::string mpi_absence() {
  return mpi().absence;
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  HILBENCH_MPI(mpi().get_library_version(text, &length));
  const std::string version(text, static_cast<std::size_t>(length));
  return version.substr(0, version.find_first_of(",\n"));
}

MpiProgram::MpiProgram() : state_(std::make_shared<State>()) {
  if (!mpi().absence.empty()) throw TransportError(mpi().absence);
  int provided = MPI_THREAD_SINGLE;
  HILBENCH_MPI(mpi().init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided));
  HILBENCH_MPI(mpi().comm_set_errhandler(mpi().comm_world, mpi().errors_return));
  if (provided < MPI_THREAD_SERIALIZED) throw TransportError("this MPI supports calls of one thread only");
  HILBENCH_MPI(mpi().comm_dup(mpi().comm_world, &state_->comm));
  HILBENCH_MPI(mpi().comm_set_errhandler(state_->comm, mpi().errors_return));
  HILBENCH_MPI(mpi().comm_rank(state_->comm, &state_->rank));
  HILBENCH_MPI(mpi().comm_size(state_->comm, &state_->size));
  MPI_Comm host = mpi().comm_null;
  HILBENCH_MPI(mpi().comm_split_type(state_->comm, MPI_COMM_TYPE_SHARED, 0, mpi().info_null, &host));
  HILBENCH_MPI(mpi().comm_rank(host, &state_->local_rank));
  state_->first_on_host = state_->rank;
  HILBENCH_MPI(mpi().bcast(&state_->first_on_host, 1, mpi().integer, 0, host));
  HILBENCH_MPI(mpi().comm_free(&host));
}

MpiProgram::~MpiProgram() {
  const Lock lock(state_->mutex);
  if (state_->failed) return;
  for (const int status : {mpi().comm_free(&state_->comm), mpi().finalize()})
    if (status != MPI_SUCCESS) fmt::print(stderr, "leaving MPI failed with status {}\n", status);
}

int MpiProgram::rank() const {
  return state_->rank;
}

int MpiProgram::size() const {
  return state_->size;
}

int MpiProgram::local_rank() const {
  return state_->local_rank;
}

int MpiProgram::first_on_host() const {
  return state_->first_on_host;
}

void MpiProgram::abandon(int exit_status) {
  mpi().abort(mpi().comm_world, exit_status);
  std::_Exit(exit_status);
}

std::unique_ptr<Transport> MpiProgram::transport(int size, double timeout_s, std::size_t largest_bytes) {
  if (state_->failed)
    throw TransportError("an earlier ring of this MPI program failed: start the program again");
  const int number = state_->rings++;
  if (state_->rank >= size) return nullptr;
  return std::make_unique<MpiTransport>(size, timeout_s, largest_bytes, number, state_);
}

}  // namespace hilbench
