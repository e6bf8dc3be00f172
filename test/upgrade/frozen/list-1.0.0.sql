SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA rollcall;
CREATE DOMAIN rollcall.durable_number AS bigint;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE rollcall.inbox (
    id uuid NOT NULL,
    accepted_at timestamp with time zone DEFAULT date_trunc('milliseconds'::text, clock_timestamp()) NOT NULL,
    size rollcall.durable_number NOT NULL,
    addresses text NOT NULL
);
ALTER TABLE ONLY rollcall.inbox ALTER COLUMN addresses SET STORAGE EXTERNAL;
CREATE TABLE rollcall.list (
    version integer NOT NULL,
    id text NOT NULL,
    suppression_key bytea NOT NULL,
    last_seq rollcall.durable_number NOT NULL,
    forgotten_seq bigint NOT NULL
);
CREATE TABLE rollcall.subscribers (
    seq bigint NOT NULL,
    email text NOT NULL COLLATE pg_catalog."C",
    subscribed_at timestamp with time zone NOT NULL
);
CREATE TABLE rollcall.suppressions (
    hash bytea NOT NULL,
    suppressed_at timestamp with time zone NOT NULL
);
INSERT INTO rollcall.inbox VALUES ('01975000-0000-7000-8000-000000000000', '2026-11-28 04:20:10.959+00', 1, 'fay@mail.io');
INSERT INTO rollcall.list VALUES (1, '3a3d6cdca398540f', '\x10b280b77893c858fe59d689336e93004647705bf1fd372b897d80af2d9e7732', 28614010638004, 28614010638004);
INSERT INTO rollcall.subscribers VALUES (28614010638001, 'ann@mail.io', '2024-05-31 00:00:00+00');
INSERT INTO rollcall.subscribers VALUES (28614010638003, 'Cyd@Mail.io', '2024-06-02 00:00:00+00');
INSERT INTO rollcall.subscribers VALUES (28614010638004, 'dan@example.org', '2024-06-03 00:00:00+00');
INSERT INTO rollcall.suppressions VALUES ('\x00e2956894337600bb9ed9e52f0fbc34b02b4428de67a23446ad95af1292e034', '2026-11-28 04:20:10.875+00');
INSERT INTO rollcall.suppressions VALUES ('\x072d7f93d93bfa492f1c76d6f39aa626c7780f6f70c467773f786d3080f1fc45', '2026-11-28 04:20:10.875+00');
ALTER TABLE ONLY rollcall.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (id);
ALTER TABLE ONLY rollcall.list
    ADD CONSTRAINT list_pkey PRIMARY KEY (id);
ALTER TABLE ONLY rollcall.subscribers
    ADD CONSTRAINT subscribers_pkey PRIMARY KEY (seq);
ALTER TABLE ONLY rollcall.suppressions
    ADD CONSTRAINT suppressions_pkey PRIMARY KEY (hash);
ALTER DOMAIN rollcall.durable_number
    ADD CONSTRAINT turn_on_synchronous_commit_and_fsync CHECK (((current_setting('synchronous_commit'::text) <> 'off'::text) AND (current_setting('fsync'::text) = 'on'::text))) NOT VALID;
CREATE UNIQUE INDEX subscribers_identity ON rollcall.subscribers USING btree (lower(email));
CREATE INDEX subscribers_reserved ON rollcall.subscribers USING btree (seq) WHERE ((lower("right"(email, 5)) = ANY (ARRAY['e.com'::text, 'e.org'::text, 'e.net'::text, 'ample'::text, '@test'::text, '.test'::text, 'valid'::text, 'lhost'::text])) AND (lower(email) ~~ ANY (ARRAY['%@example.com'::text, '%.example.com'::text, '%@example.org'::text, '%.example.org'::text, '%@example.net'::text, '%.example.net'::text, '%@example'::text, '%.example'::text, '%@test'::text, '%.test'::text, '%@invalid'::text, '%.invalid'::text, '%@localhost'::text, '%.localhost'::text])));
